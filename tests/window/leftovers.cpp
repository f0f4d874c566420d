// What was chosen before something else changed: nothing of it acts on, or is shown for, the wrong
// source, column, row or window.
#include <doctest/doctest.h>

#include <QAction>
#include <QDockWidget>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QSettings>
#include <QStatusBar>

#include "views/views.h"
#include "window/dialogs/keys_dialog.h"
#include "window/pointer.h"

namespace fovea::test {

namespace {

QLineEdit& seed_field(Window& window) {
  for (auto* line : window->findChild<QDockWidget*>("Column")->findChildren<QLineEdit*>())
    if (line->toolTip().contains("64 bits")) return *line;
  FAIL("there is no field of the seed");
  throw;
}

void type_seed(QLineEdit& field, const QString& text) {
  field.setFocus();
  field.selectAll();
  QTest::keyClicks(&field, text);
}

/// How often a widget was told that its style or its palette is another one.
class Polished : public QObject {
 public:
  explicit Polished(QWidget& widget) { widget.installEventFilter(this); }
  int count = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    count += event->type() == QEvent::StyleChange || event->type() == QEvent::PaletteChange;
    return false;
  }
};

}  // namespace

TEST_CASE("a seed that is being typed belongs to the column whose form shows it") {
  Window window(small);
  const int first = column_of(window, "hyper"), second = column_of(window, "tf");
  window.study().select_column(first);
  QLineEdit& seed = seed_field(window);
  type_seed(seed, "18446744073709551615");
  window.study().select_column(second);
  QTest::keyClick(&seed, Qt::Key_Return);
  CHECK(window.study().session().columns[second].seed == 0);
  type_seed(seed, "18446744073709551615");
  QTest::keyClick(&seed, Qt::Key_Return);
  CHECK(window.study().session().columns[second].seed == 18446744073709551615u);
  CHECK(window.study().session().columns[first].seed == 0);
}

TEST_CASE("the field of the seed shows what the column has, once nothing is being typed") {
  Window window(small);
  QLineEdit& seed = seed_field(window);
  const int column = column_of(window, "tf");
  window.study().select_column(column);
  type_seed(seed, "7");
  CHECK(wait_until([&] { return window.study().settled(); }));
  CHECK(seed.text() == "7");  // still being typed
  SUBCASE("its column is removed") {
    QTest::keyClick(&seed, Qt::Key_Return);
    REQUIRE(window.study().session().columns[std::size_t(column)].seed == 7);
    window->editor().remove_column();
    REQUIRE(window.study().selected_column() == column);
    CHECK(seed.text() == "0");
  }
  SUBCASE("it is undone") {
    QTest::keyClick(&seed, Qt::Key_Return);
    window->editor().undo();
    CHECK(seed.text() == "0");
  }
  SUBCASE("it is beyond 64 bits") {
    type_seed(seed, "18446744073709551616");
    QTest::keyClick(&seed, Qt::Key_Return);
    CHECK(seed.text() == "0");
  }
}

TEST_CASE("another source forgets what was read and chosen in the one before") {
  Window window(small);
  window->change("views", [](Session& s) { s.views = {find_view("heatmap"), find_view("rank")}; });
  REQUIRE(window.settle());
  window.study().hover(17, 5, 1);
  window.study().choose_block(PointedPair{17, 5, 1});
  const auto said = [&] {
    QString text;
    for (const auto* label : window->findChildren<QLabel*>())
      if (label->isVisibleTo(&*window)) text += label->text() + "\n";
    return text;
  };
  REQUIRE(wait_until([&] { return said().contains("Top keys of query 17"); }));
  REQUIRE(said().contains("shaded by the attention of query 17"));
  REQUIRE(said().contains("largest σ"));
  window->open("synthetic:hmatrix");  // an attention matrix without Q, K and V
  REQUIRE(wait_until([&] { return window.study().shows_matrix(); }));
  REQUIRE(window.settle());
  CHECK_FALSE(said().contains("query 17"));
  window->open(small);
  REQUIRE(wait_until([&] { return !window.study().opening() && !window.study().shows_matrix(); }));
  window->change("views", [](Session& s) { s.views = {find_view("heatmap"), find_view("rank")}; });
  REQUIRE(window.settle());
  CHECK_FALSE(said().contains("largest σ"));
}

TEST_CASE("a chosen rank block stays with its column, and Esc unselects it") {
  Window window(small);
  window->change("views", [](Session& s) { s.views = {find_view("rank")}; });
  REQUIRE(window.settle());
  window.study().choose_block(PointedPair{17, 5, 1});
  window->editor().move_column(1, 2);
  REQUIRE(window.settle());
  REQUIRE(window.study().chosen_block());
  CHECK(window.study().chosen_block()->column == 2);
  window.trigger("cancel");
  CHECK_FALSE(window.study().chosen_block());
}

TEST_CASE("keys that act on the row pointed at last follow when rows are removed") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("mask")});
  const QPoint where = at(window, find_view("mask"), 1, 0.5, 0.5);
  QTest::mouseMove(&window->canvas(), where);
  REQUIRE(wait_until([&] { return window->navigation().view() == 1; }));
  window->change("views", [](Session& s) { s.views = {find_view("heatmap")}; });
  REQUIRE(window.settle());
  CHECK(window->navigation().view() == 0);
  window.trigger("copy");
  CHECK(window->statusBar()->currentMessage().startsWith("Copied Attention P of "));
}

TEST_CASE("theme and keys are those of all windows") {
  Window window(small), other(small);
  window->set_look("light");
  CHECK(wait_until([&] { return !other.study().model()->dark; }));
  window->set_look("dark");
  CHECK(wait_until([&] { return other.study().model()->dark; }));
  const QList<QAction*> actions = window->findChildren<QAction*>();
  KeysDialog keys({actions.begin(), actions.end()}, &*window);
  keys.findChild<QKeySequenceEdit*>("key_fit")->setKeySequence(Qt::Key_U);
  keys.accept();
  CHECK(other->findChild<QAction*>("fit")->shortcut() == QKeySequence(Qt::Key_U));
  QSettings().clear();
}

TEST_CASE("a theme that is there already polishes no widget again, nor does another window") {
  Window window(small, {1200, 800}, "dark");
  Polished polished(*window->docks().timing);
  window->set_look("dark");
  { Window other("synthetic:golden", {800, 600}, "dark"); }
  CHECK(polished.count == 0);
  window->set_look("light");
  CHECK(polished.count > 0);
  QSettings().clear();
}

}  // namespace fovea::test
