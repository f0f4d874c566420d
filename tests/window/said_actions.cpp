// What each entry of the menus and each key does, against what is kept in tests/window/said.
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTest>
#include <QTimer>
#include <nlohmann/json.hpp>
#include <set>

#include "kept_lines.h"
#include "views/views.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/pointer.h"
#include "window/row_settings.h"
#include "window/what_is_said.h"

namespace fovea::test {
namespace {

void flatten(Lines& lines, const std::string& path, const nlohmann::json& value) {
  if (value.is_primitive() || value.empty()) return lines.push_back(path + ": " + value.dump());
  for (const auto& [key, inner] : value.items()) flatten(lines, path + "." + key, inner);
}

/// A line for each field of the session, and for what else the window is doing.
Lines state_of(Window& window) {
  Lines lines;
  flatten(lines, "", nlohmann::json::parse(window->workspace().session_text()));
  const auto put = [&](const std::string& name, const auto& value) {
    lines.push_back(name + ": " + nlohmann::json(value).dump());
  };
  put("selected column", window.study().selected_column());
  put("query", window.study().hovered_query());
  put("key", window.study().hovered_key());
  put("row", window->navigation().view());
  put("column", window->navigation().column());
  put("enlarged", window->canvas().is_enlarged());
  put("size of panels", window->canvas().panel_pixels());
  put("paused", window.study().paused());
  put("playing", window->navigation().is_playing());
  put("search", window->find_bar().isVisible());
  put("message", window->info_bar().message().toStdString());
  put("clipboard", QApplication::clipboard()->mimeData()->formats().join(" ").toStdString());
  if (const auto selection = window.study().selection())
    lines.push_back("selection: " + std::to_string(selection->first.begin) + " " +
                    std::to_string(selection->first.end) + " " +
                    std::to_string(selection->second.begin) + " " +
                    std::to_string(selection->second.end));
  if (const auto& leaves = window.study().marks().chosen())
    lines.push_back("leaves: " + std::to_string(leaves->column) + " " +
                    std::to_string(leaves->leaves.begin) + " " +
                    std::to_string(leaves->leaves.end));
  for (const auto* dock : window->findChildren<QDockWidget*>())
    put("dock " + dock->objectName().toStdString(), dock->isVisibleTo(&*window));
  for (const auto* action : window->findChildren<QAction*>())
    if (!action->objectName().isEmpty() && (!action->isEnabled() || action->isChecked()))
      lines.push_back("action " + action->objectName().toStdString() +
                      (action->isEnabled() ? "" : " off") +
                      (action->isChecked() ? " checked" : ""));
  return lines;
}

/// Notes dialogs and popups that open, and closes them.
class Dialogs : public QObject {
 public:
  Dialogs() { startTimer(20); }
  Lines lines;

 protected:
  void timerEvent(QTimerEvent*) override {
    QWidget* open = QApplication::activeModalWidget();
    if (!open) open = QApplication::activePopupWidget();
    if (!open) return;
    if (const auto* files = qobject_cast<QFileDialog*>(open)) {
      QStringList filters;
      for (const QString& filter : files->nameFilters())  // which pictures are read depends on Qt
        filters << (filter.contains("*.png") ? filter.section(" (", 0, 0) : filter);
      lines.push_back("dialog \"" + files->windowTitle().toStdString() + "\" " +
                      filters.join(" | ").toStdString());
    } else
      for (const std::string& line : said_by(*open))
        lines.push_back("dialog \"" + open->windowTitle().toStdString() + "\" " + line);
    open->close();
  }
};

/// Without what is of other windows, and what a test would wait for.
const std::set<QString> left_out{
    "quit",  "back_end",   "memory_budget", "tour",    "again", "keys",     "play",  "glossary",
    "sweep", "open_model", "add_columns",   "explore", "heads", "measures", "triage"};

}  // namespace

TEST_CASE(
    "the memory budget that is asked for is kept, and a wrong one is refused with a message") {
  Window window(small);
  const auto answer = [&](const QString& text) {
    QTimer::singleShot(100, [text] {
      auto* dialog = QApplication::activeModalWidget();
      if (!dialog) return;
      dialog->findChild<QLineEdit*>()->setText(text);
      QTest::keyClick(dialog, Qt::Key_Return);
    });
    window.trigger("memory_budget");
  };
  answer(" 3G ");
  CHECK(QSettings().value("memory").toString() == "3G");
  CHECK(window->info_bar().message().isEmpty());
  answer("much");
  CHECK(QSettings().value("memory").toString() == "3G");
  CHECK(window->info_bar().message().contains("much"));
  answer("half");
  CHECK(QSettings().value("memory").toString() == "half");
}

TEST_CASE("law: models say of each change of data a rectangle of cells that they have") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  int changes = 0;
  for (const auto* view : window->findChildren<QAbstractItemView*>())
    if (view->model())
      QObject::connect(view->model(), &QAbstractItemModel::dataChanged, &*window,
                       [&](const QModelIndex& first, const QModelIndex& last) {
                         ++changes;
                         CHECK(first.isValid());
                         CHECK(last.isValid());
                         CHECK(first.row() <= last.row());
                         CHECK(first.column() <= last.column());
                       });
  window.study().select_column(1);
  window->change("", [](Session& s) { s.head = 1; });
  REQUIRE(wait_until([&] { return window.settle() && changes > 0; }));
}

TEST_CASE(
    "what each action and key changes in the session, the docks and the canvas is as it was") {
  Window window("synthetic:clusters?n=96&d=8&heads=2&seed=1");
  show(window, {find_view("heatmap"), find_view("error"), find_view("mask")},
       {"exact", "h1d", "tf"});
  REQUIRE(window.settle());
  take_focus(window);
  Lines lines;
  Dialogs dialogs;
  const auto begin = [&] {
    window->change("", [](Session& s) { s.viewport = {8, 72, 12, 76}, s.pinned_query = 30; });
    window.study().select_column(1);
    window->canvas().set_current(1, 1);
    window->navigation().point_to(20, 40);
    window.study().select({18, 24}, {30, 44});
    REQUIRE(window.settle());
  };
  begin();
  const Session first = window.study().session();
  const auto actions = window->findChildren<QAction*>();
  for (QAction* action : actions) {
    const QString name = action->objectName();
    if (name.isEmpty() || left_out.contains(name) || name.startsWith("qt_")) continue;
    if (!action->isEnabled()) continue;
    const Lines before = state_of(window);
    lines.push_back("== " + name.toStdString());
    window->statusBar()->clearMessage();
    dialogs.lines.clear();
    action->trigger();
    QTest::qWait(60);
    REQUIRE(window.settle());
    lines.push_back("status: " + window->statusBar()->currentMessage().toStdString());
    lines.insert(lines.end(), dialogs.lines.begin(), dialogs.lines.end());
    const Lines after = state_of(window);
    for (const std::string& line : before)
      if (std::ranges::find(after, line) == after.end()) lines.push_back("- " + line);
    for (const std::string& line : after)
      if (std::ranges::find(before, line) == before.end()) lines.push_back("+ " + line);
    if (action->isCheckable() && action->isChecked()) action->trigger();
    window->row_settings().hide();
    window->info_bar().hide();
    for (int step = 0; step < 6; ++step) window->go_back();
    if (!window->findChild<QDockWidget*>("Input")->isVisible()) window.trigger("reset_layout");
    window.study().resume();
    window->change("", [&](Session& s) { s = first; });
    begin();
  }
  CHECK(lines.size() > 200);
  check_kept("window/said/actions.txt", lines);
}

}  // namespace fovea::test
