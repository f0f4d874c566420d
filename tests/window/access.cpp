// What every user can rely on: names, keys, room for every word, undo.
#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSlider>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <set>

#include "study/background.h"
#include "thorough.h"
#include "views/views.h"
#include "window/dialogs/keys_dialog.h"
#include "window/harness.h"
#include "window/row_settings.h"
#include "window/widgets/info_bar.h"
#include "window/widgets/theme.h"

namespace fovea::test {
namespace {

/// A part of one of Qt's own widgets: a screen reader says the name of the whole widget.
bool is_inner(const QWidget* widget) {
  const QString name = widget->objectName();
  return name.startsWith("qt_") || name == "ScrollLeftButton" || name == "ScrollRightButton";
}

bool can_be_used(const QWidget* widget) {
  return widget->isVisible() && widget->isEnabled() && widget->focusPolicy() != Qt::NoFocus &&
         !is_inner(widget);
}

std::string described(const QWidget* widget) {
  return std::string(widget->metaObject()->className()) + " " + widget->objectName().toStdString() +
         " " + widget->accessibleName().toStdString();
}

/// What a screen reader would say of it.
QString spoken(const QWidget* widget) {
  if (!widget->accessibleName().isEmpty()) return widget->accessibleName();
  if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) return button->text();
  if (const auto* label = qobject_cast<const QLabel*>(widget)) return label->text();
  return {};
}

/// Words that do not fit into the widget they are written in.
QStringList cut_words(const QWidget& in) {
  QStringList out;
  for (const auto* label : in.findChildren<QLabel*>()) {
    if (!label->isVisible() || label->text().isEmpty()) continue;
    const int needed =
        label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().height();
    const bool narrow = !label->wordWrap() && label->sizeHint().width() > label->width() + 1;
    if (narrow || needed > label->height() + 1) out << "label: " + label->text();
  }
  for (const auto* button : in.findChildren<QAbstractButton*>())
    if (button->isVisible() && !button->text().isEmpty() &&
        button->minimumSizeHint().width() > button->width() + 1)
      out << "button: " + button->text();
  for (const auto* box : in.findChildren<QComboBox*>())
    if (box->isVisible() && box->minimumSizeHint().width() > box->width() + 1)
      out << "choice: " + box->accessibleName();
  return out;
}

QAction* action(Window& window, const char* name) {
  return window->findChild<QAction*>(name);
}

bool undone(Window& window, const std::string& kind, const std::function<void(Session&)>& edit) {
  const Session before = window.study().session();
  window->change(kind, edit);
  const Session after = window.study().session();
  if (after == before) return false;
  window.trigger("undo");
  if (!(window.study().session() == before)) return false;
  window.trigger("redo");
  if (!(window.study().session() == after)) return false;
  window.trigger("undo");
  return window.study().session() == before;
}

}  // namespace

TEST_CASE("every control has a name for screen readers") {
  for (const QString& what :
       {assets + "/minilm/minilm-l6.safetensors", "content:" + assets + "/image/cat.jpg"}) {
    Window window(what);
    window.trigger("find");
    for (const std::string id : {"h1d", "tf", "hyper"}) {
      window.study().select_column(column_of(window, id));
      QTest::qWait(50);
      for (const auto* widget : window->findChildren<QWidget*>()) {
        if (!can_be_used(widget)) continue;
        CAPTURE(described(widget));
        CHECK_FALSE(spoken(widget).isEmpty());
      }
    }
  }
}

TEST_CASE("Tab reaches every control and comes back to the canvas") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  window->activateWindow();
  window->canvas().setFocus();
  REQUIRE(wait_until([&] { return window->canvas().hasFocus(); }));
  std::set<const QWidget*> reached;
  for (int step = 0; step < 200; ++step) {
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    if (!reached.insert(QApplication::focusWidget()).second) break;
  }
  CHECK(reached.contains(&window->canvas()));
  for (const auto* widget : window->findChildren<QWidget*>()) {
    if (!can_be_used(widget) || !(widget->focusPolicy() & Qt::TabFocus)) continue;
    CAPTURE(described(widget));
    const bool part = widget->focusProxy() || reached.contains(widget->parentWidget());
    CHECK((part || reached.contains(widget)));
  }
}

TEST_CASE("no word is cut, on a laptop's screen and on a wide one, dark and light") {
  const std::pair<QSize, const char*> screens[] = {
      {{1366, 768}, "dark"}, {{1366, 768}, "light"}, {{1920, 1080}, "dark"}};
  const QString sources[] = {assets + "/minilm/minilm-l6.safetensors",
                             "content:" + assets + "/image/cat.jpg", "synthetic:clusters?n=16&d=8"};
  for (std::size_t s = 0; s < std::size(screens); ++s)
    for (std::size_t w = 0; w < std::size(sources); ++w) {
      if (!thorough() && (s + w) % 3 == 2) continue;  // each source on two of the screens
      const auto& [size, look] = screens[s];
      const QString& what = sources[w];
      Window window(what, size, look);
      REQUIRE(window_is_dark() == (QString(look) == "dark"));
      window.study().hover(3, 5, 1);
      window.study().select({2, 9}, {3, 8});
      window->findChild<QAction*>("find")->trigger();
      for (const char* name : {"Comparison", "Spans", "Learning", "Effect", "Timing"}) {
        window->docks().show(name);
        QTest::qWait(50);
      }
      for (std::size_t c = 0; c < window.study().session().columns.size(); ++c) {
        window.study().select_column(int(c));
        REQUIRE(window.settle());
        wait_until([&] { return cut_words(*window).isEmpty(); });  // layouts come late
        CAPTURE(what.toStdString());
        CAPTURE(size.width());
        CAPTURE(look);
        CAPTURE(c);
        const QStringList cut = cut_words(*window);
        CHECK_MESSAGE(cut.isEmpty(), cut.join("; ").toStdString());
        for (const auto* scroll : window->findChildren<QScrollArea*>("dock_scroll"))
          if (scroll->isVisible())
            CHECK_MESSAGE(
                scroll->widget()->width() <= scroll->viewport()->width(),  // else it is clipped
                scroll->parentWidget()->objectName().toStdString());
      }
    }
}

TEST_CASE("every kind of change is undone and redone") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  CHECK(undone(window, "head", [](Session& s) { s.head = 3; }));
  CHECK(undone(window, "layer", [](Session& s) { s.layer = 1; }));
  CHECK(undone(window, "causal", [](Session& s) { s.conditions.causal = true; }));
  CHECK(undone(window, "scale", [](Session& s) { s.conditions.scale = 0.5; }));
  CHECK(undone(window, "views", [](Session& s) { std::swap(s.views[0], s.views[1]); }));
  CHECK(undone(window, "move", [](Session& s) { std::swap(s.columns[1], s.columns[2]); }));
  CHECK(undone(window, "seed", [](Session& s) { s.columns.back().seed = 9; }));
  CHECK(undone(window, "settings", [](Session& s) { s.settings.colormap = "magma"; }));
  CHECK(undone(window, "settings", [](Session& s) { s.settings.shared_range = false; }));
  CHECK(undone(window, "viewport", [](Session& s) { s.viewport = {10, 50, 20, 60}; }));
  CHECK(undone(window, "pin", [](Session& s) { s.pinned_query = 12; }));
  CHECK(window.settle());
}

TEST_CASE("rows are added at their place, moved and removed") {
  Window window(small);
  const auto views = [&] { return window.study().session().views; };
  window->change("views", [](Session& s) { s.views = {find_view("heatmap"), find_view("mask")}; });
  const auto row_action = [&](const QString& text) {
    for (auto* found : window->findChildren<QAction*>())
      if (found->text() == text && found->isCheckable() && !found->actionGroup()) return found;
    return static_cast<QAction*>(nullptr);
  };
  REQUIRE(row_action("Error"));
  row_action("Error")->trigger();
  CHECK(views() == std::vector{find_view("heatmap"), find_view("error"), find_view("mask")});
  window.trigger("row_next");
  window.trigger("row_up");
  CHECK(views() == std::vector{find_view("error"), find_view("heatmap"), find_view("mask")});
  window.trigger("row_up");  // it is the first
  CHECK(views() == std::vector{find_view("error"), find_view("heatmap"), find_view("mask")});
  window.trigger("row_down");
  window.trigger("row_down");
  CHECK(views() == std::vector{find_view("heatmap"), find_view("mask"), find_view("error")});
  row_action("Mask")->trigger();
  CHECK(views() == std::vector{find_view("heatmap"), find_view("error")});
}

TEST_CASE("settings that would change nothing are disabled and say why") {
  Window window(small);
  const auto floor = [&] {
    return window.row_settings(find_view("heatmap")).findChild<QWidget*>("view_Floor");
  };
  const auto* pool = window->findChild<QWidget*>("view_Pool");
  CHECK(floor()->isEnabled());
  CHECK(pool->isEnabled());  // zooming out may pool at any time
  window->change("norm", [](Session& s) { s.settings.norm = Norm::linear; });
  REQUIRE(window.settle());
  CHECK_FALSE(floor()->isEnabled());
  CHECK(floor()->toolTip().contains(". The norm is not logarithmic"));
  window->change("views", [](Session& s) { s.views = {find_view("mask")}; });
  REQUIRE(window.settle());
  CHECK_FALSE(pool->isEnabled());
  CHECK(pool->toolTip().contains("No row is pooled (heatmap, error, "));
}

TEST_CASE("keys are listed and changed, and a key with two meanings is reported and refused") {
  Window window(small);
  const auto all = [&] {
    const auto actions = window->findChildren<QAction*>();
    return std::vector<QAction*>(actions.begin(), actions.end());
  };
  CHECK(KeysDialog(all()).conflict().isEmpty());  // the standard keys
  for (const char* name :
       {"pan_left", "zoom_in", "fit",  "column_1", "next_error",   "row_norm", "log_norm",
        "reset",    "goto",    "find", "undo",     "redo",         "copy",     "export",
        "save",     "open",    "keys", "pin",      "crosshair_up", "find_next"}) {
    CAPTURE(name);
    KeysDialog dialog(all());
    const auto* edit = dialog.findChild<QKeySequenceEdit*>(QString("key_") + name);
    REQUIRE(edit);
    CHECK_FALSE(edit->keySequence().isEmpty());
    CHECK_FALSE(edit->accessibleName().isEmpty());
  }
  {
    KeysDialog dialog(all());
    dialog.show();
    auto* fit = dialog.findChild<QKeySequenceEdit*>("key_fit");
    fit->setKeySequence(QKeySequence("N"));
    CHECK(dialog.conflict() == "N: Fit, Normalise rows");
    dialog.accept();
    CHECK(dialog.isVisible());
    CHECK(action(window, "fit")->shortcut() == QKeySequence("F"));
    fit->setKeySequence(QKeySequence("Ctrl+9"));
    CHECK(dialog.conflict().isEmpty());
    dialog.findChild<QKeySequenceEdit*>("key_export")->clear();
    dialog.accept();
    CHECK_FALSE(dialog.isVisible());
  }
  CHECK(action(window, "fit")->shortcut() == QKeySequence("Ctrl+9"));
  // The new key is remembered, and so is that another action has none.
  MainWindow second(make_low_priority_backend());
  CHECK(second.findChild<QAction*>("fit")->shortcut() == QKeySequence("Ctrl+9"));
  CHECK(second.findChild<QAction*>("export")->shortcut().isEmpty());
}

TEST_CASE("keys are grouped by menu and found by name or key, and names do not change") {
  Window window(small);
  window->change("seed", [](Session& s) { s.columns[1].seed = 5; });
  const auto found = window->findChildren<QAction*>();
  KeysDialog dialog({found.begin(), found.end()});
  dialog.show();
  const auto is_shown = [&](const char* name) {
    return dialog.findChild<QKeySequenceEdit*>(QString("key_") + name)->isVisibleTo(&dialog);
  };
  CHECK(is_shown("fit"));
  CHECK(dialog.findChild<QKeySequenceEdit*>("key_undo")->accessibleName() == "Undo");
  QStringList headings;
  for (const QLabel* label : dialog.findChildren<QLabel*>()) headings << label->text();
  for (const char* group : {"File", "Edit", "View", "Variant", "Compute"})
    CHECK(headings.contains(group));
  auto* search = dialog.findChild<QLineEdit*>("search_keys");
  search->setText("undo");
  CHECK(is_shown("undo"));
  CHECK_FALSE(is_shown("fit"));
  search->setText("ctrl+z");
  CHECK(is_shown("undo"));
  search->clear();
  CHECK(is_shown("fit"));
}

TEST_CASE("a remapped key works and its old key does nothing") {
  Window window(small);
  window.trigger("zoom_in");
  const Viewport zoomed = window.study().session().viewport;
  action(window, "fit")->setShortcut(QKeySequence("G"));
  window->activateWindow();
  window->canvas().setFocus();
  REQUIRE(wait_until([&] { return window->canvas().hasFocus(); }));
  QTest::keyClick(&window->canvas(), Qt::Key_F);
  QTest::qWait(100);
  CHECK(window.study().session().viewport == zoomed);
  QTest::keyClick(&window->canvas(), Qt::Key_G);
  CHECK(wait_until([&] { return window.study().session().viewport == Viewport{0, 128, 0, 128}; }));
}

TEST_CASE("a file dropped on the canvas is opened") {
  Window window(small);
  CHECK_FALSE(window->canvas().acceptDrops());  // it leaves them to the window
  CHECK(drop(window, assets + "/text/fovea.txt"));
  CHECK(wait_until([&] {
    return QString::fromStdString(window.study().session().source).endsWith("fovea.txt");
  }));
}

TEST_CASE("a session keeps the layout of the docks") {
  QTemporaryDir dir;
  Window window(small);
  auto* timing = window->findChild<QDockWidget*>("Timing");
  timing->hide();
  REQUIRE(window.save(dir.filePath("s.fovea.json")));
  timing->show();
  window->open(dir.filePath("s.fovea.json"));
  CHECK(wait_until([&] { return timing->isHidden(); }));
}

TEST_CASE("the window reopens the last session as it was") {
  Session left;
  {
    Window window("content:" + assets + "/text/fovea.txt");
    window->change("test", [](Session& s) {
      s.pinned_query = 7;
      s.views = {find_view("row"), find_view("heatmap")};
    });
    left = window.study().session();
    window.close();
  }
  MainWindow again(make_low_priority_backend());
  REQUIRE(again.files().open_last());
  CHECK(wait_until([&] { return again.study().session() == left; }));
}

TEST_CASE("every entry of the menus has a text, and is disabled where it can do nothing") {
  Window window(small);
  for (const auto* menu : window->findChildren<QMenu*>())
    for (const auto* entry : menu->actions())
      if (!entry->isSeparator()) {
        CAPTURE(entry->text().toStdString());
        CHECK_FALSE(entry->text().isEmpty());
      }
  CHECK_FALSE(action(window, "undo")->isEnabled());
  CHECK_FALSE(action(window, "redo")->isEnabled());
}

TEST_CASE("a last session that cannot be opened is reported beside what is opened instead") {
  {
    Window window(small);
    window.close();
  }
  QFile last(QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) +
             "/last.fovea.json");
  REQUIRE(last.open(QIODevice::WriteOnly));
  last.write(R"({"fovea_session": 99})");
  last.close();
  MainWindow again(make_low_priority_backend());
  CHECK_FALSE(again.files().open_last());
  again.open(small);
  REQUIRE(wait_until([&] { return again.study().source() && !again.study().opening(); }));
  CHECK(again.info_bar().message().contains("version 99"));
  again.open(small);  // the message is about what was open before
  CHECK(wait_until([&] { return again.info_bar().message().isEmpty(); }));
  REQUIRE(last.remove());
  MainWindow first(make_low_priority_backend());
  CHECK_FALSE(first.files().open_last());
  CHECK(first.info_bar().message().isEmpty());
}

}  // namespace fovea::test
