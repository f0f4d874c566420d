#include "window/widgets/theme.h"

#include <QApplication>
#include <QLabel>
#include <QPalette>
#include <QStyleFactory>

#include "figure/painter_ink.h"

namespace fovea {
namespace {

bool dark_now = true;

QPalette palette_of(const drawing::Style& style) {
  QPalette palette;
  for (const auto& [role, colour] : {std::pair{QPalette::Window, style.ground},
                                     {QPalette::WindowText, style.text},
                                     {QPalette::Base, style.raised},
                                     {QPalette::AlternateBase, style.paper},
                                     {QPalette::Text, style.text},
                                     {QPalette::Button, style.raised},
                                     {QPalette::ButtonText, style.text},
                                     {QPalette::BrightText, style.error},
                                     {QPalette::ToolTipBase, style.raised},
                                     {QPalette::ToolTipText, style.text},
                                     {QPalette::PlaceholderText, style.faint},
                                     {QPalette::Highlight, style.accent},
                                     {QPalette::HighlightedText, style.ground},
                                     {QPalette::Link, style.accent},
                                     {QPalette::Mid, style.frame}})
    palette.setColor(role, qcolor(colour));
  for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, qcolor(style.faint));
  return palette;
}

QString style_sheet(const drawing::Style& style) {
  static const char* const text = R"(
    QMainWindow, QDialog { background: %ground; }
    QMainWindow::separator { background: %ground; width: 6px; height: 6px; }
    QMainWindow::separator:hover { background: %accent; }
    QMenuBar { background: %ground; padding: 4px 4px; }
    QMenuBar::item { padding: 4px 10px; background: transparent; border-radius: 4px; }
    QMenuBar::item:selected { background: %raised; }
    QMenu { background: %paper; border: 1px solid %frame; padding: 4px 0; }
    QMenu::item { padding: 5px 28px 5px 24px; }
    QMenu::item:selected { background: %accent; color: %ground; }
    QMenu::item:disabled { color: %faint; }
    QMenu::separator { height: 1px; background: %frame; margin: 4px 8px; }
    QDockWidget { color: %text; font-weight: 600; titlebar-close-icon: none; }
    QDockWidget::title { background: %paper; padding: 8px 12px 4px 12px; text-align: left; }
    QScrollArea#dock_scroll, QWidget#dock_page { background: %paper; border: none; }
    QTableView { background: %paper; border: none; padding: 0 12px 4px 12px; }
    QTableCornerButton::section { background: %paper; border: none; }
    QHeaderView { background: %paper; border: none; }
    QHeaderView::section { background: %paper; color: %faint; border: none; padding: 4px 3px; }
    QTableView#frozen_columns { padding: 0; border-right: 1px solid %frame; }
    QTableView#heads { background: %paper; border: 1px solid transparent; padding: 0; }
    QTableView#heads:focus { border: 1px dotted %accent; }
    QToolBar { background: %ground; border: none; padding: 0 4px 4px 4px; spacing: 2px; }
    QToolBar::separator { background: %frame; width: 1px; margin: 4px 6px; }
    QToolBar QToolButton { padding: 4px 8px; }
    QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; }
    QFileDialog QToolButton { padding: 2px; }
    QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
    QToolButton:checked { border-color: %accent; color: %accent; }
    QStatusBar { background: %ground; color: %faint; }
    QStatusBar::item { border: none; }
    QToolTip { background: %raised; color: %text; border: 1px solid %frame; padding: 4px; }
    QLabel[style="heading"] { color: %text; font-weight: 600; font-variant: small-caps; font-size: 11pt; }
    QLabel[style="subheading"] { color: %text; font-weight: 600; }
    QLabel[style="figure"] { color: %text; font-weight: 600; font-size: 15pt; }
    QToolButton[style="fold"] { background: transparent; border: 1px solid transparent; padding: 3px 0; font-weight: 600; font-variant: small-caps; font-size: 11pt; text-align: left; }
    QToolButton[style="light fold"] { background: transparent; border: 1px solid transparent; padding: 3px 0; color: %faint; text-align: left; }
    QToolButton[style="fold"]:checked { color: %text; }
    QToolButton[style="fold"]:hover, QToolButton[style="light fold"]:hover { color: %accent; }
    QToolButton[style="fold"]:focus, QToolButton[style="light fold"]:focus { border: 1px dotted %accent; }
    QToolButton[style="tab"] { background: transparent; border: 1px solid transparent; padding: 3px 10px; color: %faint; }
    QToolButton[style="tab"]:hover { color: %accent; }
    QToolButton[style="tab"]:focus { border: 1px dotted %accent; }
    QToolButton[style="tab"]:checked { color: %text; border-bottom: 2px solid %accent; }
    QLabel[style="note"] { color: %faint; }
    QLabel[style="warning"] { color: %warning; }
    QLabel[style="key"] { color: %accent; }
    QLabel[style="link"] { color: %accent; font-weight: 600; }
    QLabel[style="formula"] { background: %raised; border-radius: 4px; padding: 8px; }
    QFrame#tour { background: %paper; border: 1px solid %accent; border-radius: 6px; }
    QFrame#row_settings, QFrame#parameter_popup { background: %paper; border: 1px solid %frame; }
    QFrame#info_bar { background: %raised; border: 1px solid %warning; border-radius: 4px; }
    QFrame#find_bar, QFrame#live_bar, QFrame#recovery_bar { background: %paper; border: 1px solid %frame; border-radius: 4px; }
    QDoubleSpinBox, QLineEdit { background: %raised; border: 1px solid %frame; border-radius: 4px;
      padding: 2px 6px; min-height: 20px; selection-background-color: %accent; }
    QDoubleSpinBox:focus, QLineEdit:focus { border: 1px solid %accent; }
    QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; border: none; }
    QPushButton, QToolButton { background: %raised; border: 1px solid %frame; border-radius: 4px; padding: 4px 12px; }
    QPushButton:hover, QToolButton:hover { border-color: %accent; }
    QPushButton:focus, QToolButton:focus { border-color: %accent; }
    QPushButton:disabled, QToolButton:disabled { color: %faint; }
    QSlider::groove:horizontal { height: 4px; background: %frame; border-radius: 2px; }
    QSlider::sub-page:horizontal { background: %accent; border-radius: 2px; }
    QSlider::handle:horizontal { background: %accent; width: 12px; margin: -4px 0; border-radius: 6px; }
    QSlider::handle:horizontal:focus { background: %text; }
    QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled { background: %frame; }
    QProgressBar { background: %frame; border: none; border-radius: 3px; max-height: 6px; }
    QProgressBar::chunk { background: %accent; border-radius: 3px; }
    QScrollBar:vertical { background: transparent; width: 8px; }
    QScrollBar:horizontal { background: transparent; height: 8px; }
    QScrollBar::handle { background: %frame; border-radius: 4px; min-height: 24px; min-width: 24px; }
    QScrollBar::handle:hover { background: %faint; }
    QScrollBar::handle:disabled { background: transparent; }
    QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
    QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
  )";
  QString sheet = QString::fromLatin1(text);
  for (const auto& [name, colour] : {std::pair{"%ground", style.ground},
                                     {"%paper", style.paper},
                                     {"%raised", style.raised},
                                     {"%frame", style.frame},
                                     {"%text", style.text},
                                     {"%faint", style.faint},
                                     {"%accent", style.accent},
                                     {"%warning", style.warning},
                                     {"%error", style.error}})
    sheet.replace(name, qcolor(colour).name());
  return sheet;
}

/// Links keep the colour that the palette had when their text was set.
void set_links_again() {
  for (QWidget* widget : QApplication::allWidgets()) {
    auto* label = qobject_cast<QLabel*>(widget);
    if (!label || !label->text().contains("<a ")) continue;
    const QString text = label->text();
    label->clear();
    label->setText(text);
  }
}

}  // namespace

const drawing::Style& window_style() {
  return drawing::screen_style(dark_now);
}

bool window_is_dark() {
  return dark_now;
}

bool desktop_is_dark() {
  QApplication::setPalette(QPalette());
  return QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
}

void apply_theme(QApplication& application, bool dark) {
  dark_now = dark;
  // Each of these polishes every widget of every window, so nothing is set again that is set
  // already.
  static QPalette applied;
  const QString sheet = style_sheet(window_style());
  const bool same_sheet = application.styleSheet() == sheet;
  if (same_sheet && application.palette() == applied) return;
  if (!same_sheet) application.setStyle(QStyleFactory::create("Fusion"));
  application.setPalette(palette_of(window_style()));
  applied = application.palette();
  if (!same_sheet) application.setStyleSheet(sheet);
  set_links_again();
}

}  // namespace fovea
