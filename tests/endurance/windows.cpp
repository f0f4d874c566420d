// Windows, their docks, sizes and themes; and any widget and any menu entry that there is.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QSpinBox>
#include <QTabBar>
#include <QTest>

#include "endurance/actions.h"
#include "endurance/checks.h"

namespace fovea::test {
namespace {

void resize(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  if (draws.chance(0.15)) return window.showMaximized();
  window.showNormal();
  window.resize(draws.from_to(640, 1900), draws.from_to(420, 1180));
}

void choose_theme(Desk& desk) {
  static const std::vector<const char*> looks{"dark", "light", "desktop"};
  desk.window().set_look(desk.draws().one_of(looks));
}

void move_dock(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  const auto docks = window.findChildren<QDockWidget*>();
  QDockWidget* dock = draws.one_of(docks);
  desk.log().line("  " + dock->objectName().toStdString());
  static const std::vector<Qt::DockWidgetArea> areas{Qt::LeftDockWidgetArea,
                                                     Qt::RightDockWidgetArea, Qt::TopDockWidgetArea,
                                                     Qt::BottomDockWidgetArea};
  switch (draws.below(6)) {
    case 0:
      dock->setFloating(true);
      dock->show();
      return dock->resize(draws.from_to(200, 900), draws.from_to(150, 800));
    case 1:
      return dock->setFloating(false);
    case 2:
      return dock->toggleViewAction()->trigger();
    case 3:
      return window.addDockWidget(draws.one_of(areas), dock);
    case 4:
      return dock->raise();
    default:
      window.tabifyDockWidget(draws.one_of(docks), dock);
  }
}

void arrange_docks(Desk& desk) {
  trigger(desk, desk.window(), desk.draws().chance(0.5) ? "canvas_alone" : "reset_layout");
}

void find_token(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  static const QStringList words{"a", "the", "1", "[SEP]", "zzz", "token 3", "é", ""};
  trigger(desk, window, "find");
  desk.wait(30);
  if (!alive) return;
  if (auto* line = window.findChild<QLineEdit*>("find_text"))
    line->setText(desk.draws().one_of(words));
  for (int i = desk.draws().below(4); i > 0; --i)
    trigger(desk, window, desk.draws().chance(0.7) ? "find_next" : "find_previous");
  if (desk.draws().chance(0.5)) window.find_bar().close_bar();
}

void open_window(Desk& desk) {
  if (desk.draws().chance(0.4)) return desk.open_windows({});
  desk.open_windows({desk.draws().one_of(desk.files().good).toStdString()});
}

void close_window(Desk& desk) {
  desk.close(desk.window());
}

/// Then the next action opens the last session again.
void quit(Desk& desk) {
  trigger(desk, desk.window(), "quit");
}

void minimise(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  window.showMinimized();
  desk.wait(desk.draws().below(300));
  if (alive) window.showNormal();
}

void choose_action(Desk& desk) {
  MainWindow& window = desk.window();
  QList<QAction*> actions;
  for (QAction* action : window.findChildren<QAction*>())
    if (action->isEnabled() && !action->isSeparator() && !action->menu() &&
        action->objectName() != "quit" && !action->text().isEmpty())
      actions << action;
  QAction* action = desk.draws().one_of(actions);
  desk.log().line("  " + action->text().toStdString() + " (" + action->objectName().toStdString() +
                  ")");
  action->trigger();
}

QPoint within(Draws& draws, const QWidget& widget) {
  return {draws.below(std::max(1, widget.width())), draws.below(std::max(1, widget.height()))};
}

void use_numbers(Draws& draws, QAbstractSpinBox& box) {
  static const std::vector<Qt::Key> keys{Qt::Key_Up, Qt::Key_Down, Qt::Key_PageUp,
                                         Qt::Key_PageDown};
  if (draws.chance(0.5)) return QTest::keyClick(&box, draws.one_of(keys));
  box.selectAll();
  QTest::keyClicks(&box, QString::number(draws.below(300)));
  QTest::keyClick(&box, Qt::Key_Return);
}

void use_slider(Draws& draws, QAbstractSlider& slider) {
  if (draws.chance(0.5))
    slider.setValue(draws.from_to(slider.minimum(), slider.maximum()));
  else
    QTest::mouseClick(&slider, Qt::LeftButton, {}, within(draws, slider));
}

void use_line(Draws& draws, QLineEdit& line) {
  static const QStringList texts{
      "", "7", "the", "12, 30", "1 2 3", "hyper", "999999999999999999999"};
  line.setFocus();
  line.selectAll();
  QTest::keyClick(&line, Qt::Key_Delete);
  QTest::keyClicks(&line, draws.one_of(texts));
  QTest::keyClick(&line, draws.chance(0.8) ? Qt::Key_Return : Qt::Key_Escape);
}

void use_items(Draws& draws, QAbstractItemView& view) {
  QWidget& inside = *view.viewport();
  const QPoint at = within(draws, inside);
  const Qt::KeyboardModifiers with = draws.chance(0.2) ? Qt::ControlModifier : Qt::NoModifier;
  if (draws.chance(0.2)) QTest::mouseDClick(&inside, Qt::LeftButton, with, at);
  QTest::mouseClick(&inside, Qt::LeftButton, with, at);
  if (draws.chance(0.3)) QTest::keyClick(&view, draws.chance(0.5) ? Qt::Key_Down : Qt::Key_Return);
}

void use(Draws& draws, QWidget& widget) {
  if (draws.chance(0.06)) {
    const QPoint at = within(draws, widget);
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
    QCoreApplication::sendEvent(&widget, &event);
    return;
  }
  if (auto* button = qobject_cast<QAbstractButton*>(&widget)) return button->click();
  if (auto* box = qobject_cast<QComboBox*>(&widget))
    return QTest::keyClick(box, draws.chance(0.5) ? Qt::Key_Down : Qt::Key_Up);
  if (auto* box = qobject_cast<QAbstractSpinBox*>(&widget)) return use_numbers(draws, *box);
  if (auto* slider = qobject_cast<QAbstractSlider*>(&widget)) return use_slider(draws, *slider);
  if (auto* line = qobject_cast<QLineEdit*>(&widget)) return use_line(draws, *line);
  if (auto* tabs = qobject_cast<QTabBar*>(&widget))
    return tabs->setCurrentIndex(draws.below(std::max(1, tabs->count())));
  if (auto* view = qobject_cast<QAbstractItemView*>(&widget)) return use_items(draws, *view);
  QTest::mouseMove(&widget, within(draws, widget));
  QTest::mouseClick(&widget, Qt::LeftButton, {}, within(draws, widget));
}

bool can_be_used(const QWidget& widget) {
  const auto* line = qobject_cast<const QLineEdit*>(&widget);
  const bool inside = line && qobject_cast<QAbstractSpinBox*>(widget.parentWidget());
  return widget.isVisible() && widget.isEnabled() && !inside &&
         (widget.focusPolicy() != Qt::NoFocus || qobject_cast<const QAbstractButton*>(&widget) ||
          qobject_cast<const QHeaderView*>(&widget));
}

/// Any of those that can be seen, in windows, floating docks and dialogs.
void use_any_widget(Desk& desk) {
  QList<QWidget*> widgets;
  desk.window();
  for (QWidget* top : QApplication::topLevelWidgets()) {
    if (!top->isVisible()) continue;
    for (auto* widget : top->findChildren<QWidget*>())
      if (can_be_used(*widget) && widget->window() == top) widgets << widget;
  }
  if (widgets.isEmpty()) return;
  QWidget* widget = desk.draws().one_of(widgets);
  const auto* button = qobject_cast<QAbstractButton*>(widget);
  desk.log().line(std::string("  ") + widget->metaObject()->className() + " " +
                  widget->objectName().toStdString() + " “" +
                  widget->accessibleName().toStdString() +
                  (button ? button->text().toStdString() : "") + "” of " +
                  widget->window()->windowTitle().toStdString());
  use(desk.draws(), *widget);
}

void wait_a_little(Desk& desk) {
  desk.wait(desk.draws().below(1000));
}

void let_settle(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  if (settle(desk, window, 20000) && alive) check_results(desk, window);
}

}  // namespace

std::vector<Action> window_actions() {
  return {{"resize a window", 3, resize},         {"choose a theme", 2, choose_theme},
          {"move a dock", 6, move_dock},          {"hide, show or arrange docks", 2, arrange_docks},
          {"find a token", 2, find_token},        {"open a window", 2, open_window},
          {"close a window", 2, close_window},    {"quit and start again", 1, quit},
          {"minimise a window", 1, minimise},     {"choose any menu entry", 8, choose_action},
          {"use any widget", 24, use_any_widget}, {"wait a little", 4, wait_a_little},
          {"let a window settle", 10, let_settle}};
}

}  // namespace fovea::test
