#include "window/widgets/theme.h"

#include <QApplication>
#include <QPalette>
#include <QStyleFactory>

#include "figure/painter_ink.h"

namespace fovea {
namespace {

bool dark_now = true;

QPalette palette_of(const Theme& t) {
  QPalette palette;
  const auto set = [&](QPalette::ColorRole role, const QColor& colour) {
    palette.setColor(role, colour);
  };
  set(QPalette::Window, t.window);
  set(QPalette::WindowText, t.text);
  set(QPalette::Base, t.raised);
  set(QPalette::AlternateBase, t.surface);
  set(QPalette::Text, t.text);
  set(QPalette::Button, t.raised);
  set(QPalette::ButtonText, t.text);
  set(QPalette::BrightText, t.error);
  set(QPalette::ToolTipBase, t.raised);
  set(QPalette::ToolTipText, t.text);
  set(QPalette::PlaceholderText, t.muted);
  set(QPalette::Highlight, t.accent);
  set(QPalette::HighlightedText, t.window);
  set(QPalette::Link, t.accent);
  set(QPalette::Mid, t.line);
  for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, t.muted);
  return palette;
}

QString style_sheet(const Theme& t) {
  static const char* const text = R"(
    QMainWindow, QDialog { background: %window; }
    QMainWindow::separator { background: %window; width: 6px; height: 6px; }
    QMainWindow::separator:hover { background: %accent; }
    QMenuBar { background: %window; padding: 4px 4px; }
    QMenuBar::item { padding: 4px 10px; background: transparent; border-radius: 4px; }
    QMenuBar::item:selected { background: %raised; }
    QMenu { background: %surface; border: 1px solid %line; padding: 4px 0; }
    QMenu::item { padding: 5px 28px 5px 24px; }
    QMenu::item:selected { background: %accent; color: %window; }
    QMenu::item:disabled { color: %muted; }
    QMenu::separator { height: 1px; background: %line; margin: 4px 8px; }
    QDockWidget { color: %text; font-weight: 600; titlebar-close-icon: none; }
    QDockWidget::title { background: %surface; padding: 8px 12px 4px 12px; text-align: left; }
    QScrollArea#dock_scroll, QWidget#dock_page { background: %surface; border: none; }
    QTableView { background: %surface; border: none; padding: 0 12px 4px 12px; }
    QHeaderView { background: %surface; border: none; }
    QHeaderView::section { background: %surface; color: %muted; border: none; padding: 4px 3px; }
    QListView#heads { background: %surface; border: 1px solid transparent; }
    QListView#heads:focus { border: 1px dotted %accent; }
    QToolBar { background: %window; border: none; padding: 0 4px 4px 4px; spacing: 2px; }
    QToolBar::separator { background: %line; width: 1px; margin: 4px 6px; }
    QToolBar QToolButton { padding: 4px 8px; }
    QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; }
    QToolButton:checked { border-color: %accent; color: %accent; }
    QStatusBar { background: %window; color: %muted; }
    QStatusBar::item { border: none; }
    QToolTip { background: %raised; color: %text; border: 1px solid %line; padding: 4px; }
    QLabel[style="heading"] { color: %text; font-weight: 600; font-variant: small-caps; font-size: 11pt; }
    QLabel[style="note"] { color: %muted; }
    QLabel[style="warning"] { color: %warning; }
    QLabel[style="link"] { color: %accent; font-weight: 600; }
    QLabel[style="formula"] { background: %raised; border-radius: 4px; padding: 8px; }
    QFrame#info_bar { background: %raised; border: 1px solid %error; border-radius: 4px; }
    QFrame#find_bar { background: %surface; border: 1px solid %line; border-radius: 4px; }
    QDoubleSpinBox, QLineEdit { background: %raised; border: 1px solid %line; border-radius: 4px;
      padding: 2px 6px; min-height: 20px; selection-background-color: %accent; }
    QDoubleSpinBox:focus, QLineEdit:focus { border: 1px solid %accent; }
    QPushButton, QToolButton { background: %raised; border: 1px solid %line; border-radius: 4px; padding: 4px 12px; }
    QPushButton:hover, QToolButton:hover { border-color: %accent; }
    QPushButton:focus, QToolButton:focus { border-color: %accent; }
    QPushButton:disabled, QToolButton:disabled { color: %muted; }
    QSlider::groove:horizontal { height: 4px; background: %line; border-radius: 2px; }
    QSlider::sub-page:horizontal { background: %accent; border-radius: 2px; }
    QSlider::handle:horizontal { background: %accent; width: 12px; margin: -4px 0; border-radius: 6px; }
    QSlider::handle:horizontal:focus { background: %text; }
    QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled { background: %line; }
    QProgressBar { background: %line; border: none; border-radius: 3px; max-height: 6px; }
    QProgressBar::chunk { background: %accent; border-radius: 3px; }
    QScrollBar:vertical { background: transparent; width: 8px; }
    QScrollBar:horizontal { background: transparent; height: 8px; }
    QScrollBar::handle { background: %line; border-radius: 4px; min-height: 24px; min-width: 24px; }
    QScrollBar::handle:hover { background: %muted; }
    QScrollBar::handle:disabled { background: transparent; }
    QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
    QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
  )";
  QString sheet = QString::fromLatin1(text);
  const std::pair<const char*, QColor> colours[] = {
      {"%window", t.window}, {"%surface", t.surface}, {"%raised", t.raised},
      {"%line", t.line},     {"%text", t.text},       {"%muted", t.muted},
      {"%accent", t.accent}, {"%warning", t.warning}, {"%error", t.error}};
  for (const auto& [name, colour] : colours) sheet.replace(name, colour.name());
  return sheet;
}

Theme theme_of(const drawing::Style& style) {
  Theme theme{.window = qcolor(style.ground),
              .surface = qcolor(style.paper),
              .raised = qcolor(style.raised),
              .line = qcolor(style.frame),
              .text = qcolor(style.text),
              .muted = qcolor(style.faint),
              .accent = qcolor(style.accent),
              .warning = qcolor(style.warning),
              .error = qcolor(style.error),
              .marked = qcolor(style.marked),
              .found = qcolor(style.key)};
  for (std::size_t s = 0; s < theme.series.size(); ++s)
    theme.series[s] = qcolor(style.series[s + 1]);  // the first one is for exact attention
  return theme;
}

}  // namespace

const Theme& Theme::current() {
  static const Theme dark = theme_of(drawing::screen_style(true)),
                     light = theme_of(drawing::screen_style(false));
  return dark_now ? dark : light;
}

bool Theme::is_dark() {
  return dark_now;
}

QColor readable_on(const QColor& ground) {
  const QRgb c = ground.rgb();
  return qcolor(drawing::readable_on(
      {std::uint8_t(qRed(c)), std::uint8_t(qGreen(c)), std::uint8_t(qBlue(c))}));
}

bool desktop_is_dark() {
  QApplication::setPalette(QPalette());
  return QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
}

void apply_theme(QApplication& application, bool dark) {
  dark_now = dark;
  application.setStyle(QStyleFactory::create("Fusion"));
  application.setPalette(palette_of(Theme::current()));
  application.setStyleSheet(style_sheet(Theme::current()));
}

}  // namespace fovea
