// The pointer, the wheel and keys on the canvas.
#include <QApplication>
#include <QTest>
#include <QWheelEvent>

#include "endurance/actions.h"

namespace fovea::test {
namespace {

/// Mostly on a panel that is shown, else anywhere on the canvas.
QPoint place(Desk& desk, MainWindow& window) {
  Draws& draws = desk.draws();
  Canvas& canvas = window.canvas();
  if (const auto model = window.study().model();
      model && !model->is_empty() && draws.chance(0.85)) {
    const QRectF panel =
        canvas.panel_place(draws.below(std::max(1, int(model->views.size()))),
                           draws.below(std::max(1, int(model->column_titles.size()))));
    if (!panel.isEmpty())
      return (panel.topLeft() +
              QPointF(draws.share() * panel.width(), draws.share() * panel.height()))
          .toPoint();
  }
  return {draws.below(std::max(1, canvas.width())), draws.below(std::max(1, canvas.height()))};
}

void point(Desk& desk) {
  MainWindow& window = desk.window();
  for (int i = 0; i < 6; ++i) {
    QTest::mouseMove(&window.canvas(), place(desk, window));
    desk.wait(16);
  }
}

void click(Desk& desk) {
  MainWindow& window = desk.window();
  const QPoint at = place(desk, window);
  Draws& draws = desk.draws();
  const Qt::KeyboardModifiers with = draws.chance(0.2) ? Qt::ControlModifier : Qt::NoModifier;
  QTest::mouseMove(&window.canvas(), at);
  desk.wait(30);
  QTest::mouseClick(&window.canvas(), draws.chance(0.8) ? Qt::LeftButton : Qt::MiddleButton, with,
                    at);
}

void double_click(Desk& desk) {
  MainWindow& window = desk.window();
  const QPoint at = place(desk, window);
  QTest::mouseMove(&window.canvas(), at);
  desk.wait(30);
  QTest::mouseDClick(&window.canvas(), Qt::LeftButton, {}, at);
}

/// The left button selects, the right one pans.
void drag(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  const Qt::MouseButton button = desk.draws().chance(0.5) ? Qt::LeftButton : Qt::RightButton;
  const QPoint from = place(desk, window), to = place(desk, window);
  QTest::mouseMove(&window.canvas(), from);
  QTest::mousePress(&window.canvas(), button, {}, from);
  for (int step = 1; step <= 8; ++step) {
    const QPoint at = from + (to - from) * step / 8;
    QMouseEvent move(QEvent::MouseMove, at, window.canvas().mapToGlobal(at), Qt::NoButton, button,
                     {});
    QCoreApplication::sendEvent(&window.canvas(), &move);
    desk.wait(16);
    if (!alive) return;
  }
  QTest::mouseRelease(&window.canvas(), button, {}, to);
}

void turn_wheel(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  Draws& draws = desk.draws();
  const QPoint at = place(desk, window);
  static const std::vector<Qt::KeyboardModifiers> all{
      Qt::NoModifier, Qt::NoModifier, Qt::NoModifier, Qt::ControlModifier, Qt::ShiftModifier};
  const Qt::KeyboardModifiers with = draws.one_of(all);
  const int angle = draws.chance(0.6) ? 120 : -120;
  QTest::mouseMove(&window.canvas(), at);
  for (int notch = draws.from_to(1, 8); notch > 0 && alive; --notch) {
    QWheelEvent event(at, window.canvas().mapToGlobal(QPointF(at)), {}, {0, angle}, Qt::NoButton,
                      with, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&window.canvas(), &event);
    desk.wait(16);
  }
}

/// The context menu of a panel or a header, which is drawn on the canvas; then a click somewhere
/// near, on an entry or beside it.
void open_context_menu(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  Draws& draws = desk.draws();
  const QPoint at = place(desk, window);
  QTest::mouseMove(&window.canvas(), at);
  desk.wait(50);
  QTest::mouseClick(&window.canvas(), Qt::RightButton, {}, at);
  desk.wait(100);
  for (int i = 0; i < 3 && alive; ++i) {
    const QPoint entry = at + QPoint(draws.from_to(10, 160), draws.from_to(5, 260));
    QTest::mouseMove(&window.canvas(), entry);
    desk.wait(50);
    if (alive && draws.chance(0.6)) QTest::mouseClick(&window.canvas(), Qt::LeftButton, {}, entry);
    desk.wait(50);
  }
  if (alive) QTest::keyClick(&window.canvas(), Qt::Key_Escape);
}

void press_keys(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  Draws& draws = desk.draws();
  static const std::vector<Qt::Key> keys{
      Qt::Key_Left,   Qt::Key_Right,  Qt::Key_Up,          Qt::Key_Down,
      Qt::Key_Plus,   Qt::Key_Minus,  Qt::Key_F,           Qt::Key_E,
      Qt::Key_N,      Qt::Key_L,      Qt::Key_M,           Qt::Key_B,
      Qt::Key_Z,      Qt::Key_A,      Qt::Key_BracketLeft, Qt::Key_BracketRight,
      Qt::Key_Return, Qt::Key_PageUp, Qt::Key_PageDown,    Qt::Key_1,
      Qt::Key_2,      Qt::Key_3,      Qt::Key_Escape,      Qt::Key_Q,
      Qt::Key_C,      Qt::Key_Tab};
  window.activateWindow();
  window.canvas().setFocus();
  for (int i = draws.from_to(1, 12); i > 0 && alive; --i) {
    QTest::keyClick(&window.canvas(), draws.one_of(keys),
                    draws.chance(0.15) ? Qt::AltModifier : Qt::NoModifier);
    desk.wait(draws.below(20));
  }
}

void show_exact_in_place(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  window.activateWindow();
  window.canvas().setFocus();
  QTest::keyPress(&window.canvas(), Qt::Key_Shift);
  desk.wait(desk.draws().below(300));
  if (alive) QTest::keyRelease(&window.canvas(), Qt::Key_Shift);
}

void go_to_pair(Desk& desk) {
  MainWindow& window = desk.window();
  const Lengths lengths = window.study().lengths();
  if (lengths.queries == 0) return;
  Draws& draws = desk.draws();
  if (draws.chance(0.3)) return trigger(desk, window, "goto");
  window.navigation().go_to(draws.below(int(lengths.queries)), draws.below(int(lengths.keys)));
}

void choose_viewport(Desk& desk) {
  MainWindow& window = desk.window();
  static const std::vector<const char*> names{
      "fit",         "zoom_in",         "zoom_out", "larger_panels", "smaller_panels",
      "fit_columns", "standard_panels", "enlarge",  "worst",         "less_bad"};
  for (int i = desk.draws().from_to(1, 5); i > 0; --i)
    trigger(desk, window, desk.draws().one_of(names));
}

}  // namespace

std::vector<Action> canvas_actions() {
  return {{"point", 8, point},
          {"click the canvas", 8, click},
          {"double click the canvas", 2, double_click},
          {"drag on the canvas", 8, drag},
          {"turn the wheel", 8, turn_wheel},
          {"open a context menu", 4, open_context_menu},
          {"press keys", 6, press_keys},
          {"show exact in place", 2, show_exact_in_place},
          {"go to a pair", 2, go_to_pair},
          {"zoom and fit", 4, choose_viewport}};
}

}  // namespace fovea::test
