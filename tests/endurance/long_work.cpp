// Long work begins, goes on beside other actions, and is cancelled.
#include <QDockWidget>
#include <QPushButton>
#include <QSettings>
#include <algorithm>

#include "endurance/actions.h"
#include "endurance/checks.h"
#include "window/dialogs/add_column_dialog.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/docks/explore_dock.h"

namespace fovea::test {
namespace {

/// Selects a column whose tree can be learned, and adds one where there is none.
bool select_tree(Desk& desk, MainWindow& window) {
  Study& study = window.study();
  if (!study.source() || study.shows_matrix() || study.opening()) return false;
  const auto& columns = study.columns();
  for (int c = 0; c < int(columns.size()); ++c)
    if (window.learning().can_learn(columns[std::size_t(c)])) {
      study.select_column(c);
      return true;
    }
  if (columns.size() < 9) window.editor().add_variants({desk.draws().chance(0.5) ? "tf" : "tc"});
  return false;
}

void learn(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  if (!select_tree(desk, window)) return;
  window.learning().learn();
  desk.wait(desk.draws().below(1500));
  if (!alive) return;
  switch (desk.draws().below(4)) {
    case 0:
      return window.learning().pause();
    case 1:
      return window.learning().revert();
    case 2:
      window.learning().pause();
      desk.wait(desk.draws().below(200));
      if (alive) window.learning().learn();
      return;
    default:
      return;  // goes on
  }
}

void stop_learning(Desk& desk) {
  MainWindow& window = desk.window();
  if (desk.draws().chance(0.5))
    window.learning().pause();
  else
    window.learning().revert();
}

void sweep(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  QSettings().setValue("sweep/seconds", 10);
  trigger(desk, window, "sweep");
  desk.wait(desk.draws().below(2000));
  if (!alive || !window.sweep()) return;
  if (desk.draws().chance(0.2)) window.sweep()->copy_table();
  if (desk.draws().chance(0.6)) window.sweep()->close();
}

void explore(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  const char* pages[] = {"explore", "heads", "measures"};
  trigger(desk, window, pages[desk.draws().below(3)]);
  desk.wait(desk.draws().below(3000));
  if (!alive) return;
  if (desk.draws().chance(0.2)) window.exploration()->copy();
  if (desk.draws().chance(0.6)) window.findChild<QDockWidget*>("Which attention?")->close();
}

void choose_columns_by_dialog(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  if (!window.study().source() || window.study().shows_matrix()) return;
  trigger(desk, window, "add_columns");
  desk.wait(desk.draws().below(1500));
  if (!alive || !window.add_columns()) return;
  if (desk.draws().chance(0.3) && window.study().columns().size() < 9)
    if (auto* add = window.add_columns()->findChild<QPushButton*>("add")) add->click();
  window.add_columns()->close();
}

void cancel(Desk& desk) {
  MainWindow& window = desk.window();
  const QPointer<MainWindow> alive = &window;
  cancel_all(desk, window);
  desk.wait(desk.draws().below(300));
  if (alive && desk.draws().chance(0.7)) window.study().resume();
}

void measure_again(Desk& desk) {
  trigger(desk, desk.window(), "again");
}

void change_back_end(Desk& desk) {
  MainWindow& window = desk.window();
  if (desk.draws().chance(0.5)) return trigger(desk, window, "back_end");
  window.study().use_backend(BackendChoice{.backend = "cpu"});
}

}  // namespace

std::vector<Action> work_actions() {
  return {{"learn a tree", 4, learn},
          {"stop learning", 2, stop_learning},
          {"sweep over n", 2, sweep},
          {"try settings", 2, explore},
          {"add columns by the dialog", 2, choose_columns_by_dialog},
          {"cancel", 6, cancel},
          {"measure again", 2, measure_again},
          {"change the back end", 1, change_back_end}};
}

}  // namespace fovea::test
