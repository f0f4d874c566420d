// Pairs that are drawn with the mouse: a rectangle, and a key that includes or excludes its pairs.
#include <doctest/doctest.h>

#include <QSignalSpy>
#include <QStatusBar>
#include <atomic>
#include <future>

#include "io/tensor_file.h"
#include "temporary_directory.h"
#include "variants/drawn.h"
#include "views/views.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

const Column& column_at(Window& window, std::size_t at) {
  return window.study().session().columns.at(at);
}

std::string drawn_at(Window& window, std::size_t at) {
  REQUIRE(column_at(window, at).variant == "drawn");
  return std::get<std::string>(column_at(window, at).values.at(0));
}

/// Draws, and waits until the column has its panels again.
void press_and_settle(Window& window, Qt::Key key) {
  press(window, key);
  REQUIRE(window.settle());
}

}  // namespace

TEST_CASE("a rectangle and a key draw pairs beside exact attention, in whole blocks") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("mask")}, {"exact", "window"});
  take_focus(window);
  const auto said = [&] { return window->statusBar()->currentMessage(); };
  press(window, Qt::Key_I);
  CHECK(said() == "Drag a rectangle on a panel first");
  CHECK(window.study().session().columns.size() == 2);

  press(window, Qt::Key_1);
  window.study().select({10, 21}, {0, 7});
  press_and_settle(window, Qt::Key_I);
  REQUIRE(window.study().session().columns.size() == 3);
  const Index block = drawn_block(column_at(window, 1).values), n = window.study().length();
  const DrawnRectangle first = in_blocks({{10, 21}, {0, 7}, true}, block, {n, n});
  DrawnPairs expected;
  expected.add(first);
  CHECK(drawn_at(window, 1) == expected.text());
  CHECK(window.study().selected_column() == 1);
  REQUIRE(window.study().selection());
  CHECK(window.study().selection()->first == first.queries);

  // Once more in the same column: this time what is left out.
  window.study().select({12, 13}, {0, 3});
  press_and_settle(window, Qt::Key_X);
  CHECK(window.study().session().columns.size() == 3);
  expected.add(in_blocks({{12, 13}, {0, 3}, false}, block, {n, n}));
  CHECK(drawn_at(window, 1) == expected.text());

  window->editor().undo();
  window->editor().undo();
  REQUIRE(window.settle());
  CHECK(window.study().session().columns.size() == 2);
  window->editor().redo();
  REQUIRE(window.settle());
  CHECK(window.study().session().columns.size() == 3);

  // Beside exact attention, excluding begins with all pairs.
  press(window, Qt::Key_1);
  window.study().select({0, n}, {0, block});
  press_and_settle(window, Qt::Key_X);
  CHECK(drawn_at(window, 1).starts_with("all !0-"));
}

TEST_CASE("drawing in the column of a variant begins with the pairs of that variant") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("mask")}, {"exact", "window"});
  take_focus(window);
  press(window, Qt::Key_2);
  window.study().select({0, 1}, {0, 1});
  press_and_settle(window, Qt::Key_I);
  REQUIRE(window.study().session().columns.size() == 3);
  const auto& columns = window.study().columns();
  const Plan &its = columns[1].computation->op->plan(), &drawn = columns[2].computation->op->plan();
  const Index block = drawn_block(column_at(window, 2).values);
  DrawnPairs expected = drawn_from(its, {block, block});
  expected.add(in_blocks({{0, 1}, {0, 1}, true}, block, its.lengths));
  CHECK(drawn_at(window, 2) == expected.text());
  CHECK(drawn.lengths == its.lengths);
}

/// A window whose engine does nothing until it is released.
struct BusyEngine {
  static constexpr RequestId id{RequestKind::hash, 1};
  std::promise<void> released;

  explicit BusyEngine(Window& window) {
    const auto begun = std::make_shared<std::atomic<bool>>(false);
    window.study().requests().start_pieces(
        id, 0,
        [begun, wait = released.get_future().share()](const Backend&, Run&) {
          *begun = true;
          wait.wait();
          return false;
        },
        [](const std::string&) {});
    REQUIRE(wait_until([&] { return begun->load(); }));
  }
};

/// Exact attention and a window, which is the selected column.
void choose_window_column(Window& window) {
  show(window, {find_view("heatmap"), find_view("mask")}, {"exact", "window"});
  take_focus(window);
  press(window, Qt::Key_2);
  REQUIRE(window.settle());
}

TEST_CASE(
    "pairs of a variant are read on the engine's thread, and the rectangle is there at once") {
  Window window(small);
  choose_window_column(window);
  BusyEngine busy(window);
  window.study().select({10, 21}, {0, 7});
  press(window, Qt::Key_I);
  CHECK(window.study().session().columns.size() == 2);
  CHECK(window.study().reads_drawn_pairs());
  CHECK(window.study().can_cancel());
  const Index n = window.study().length();
  const Index block = drawn_block(values_for_length(drawn_variant(), n));
  const auto snapped = [&](IndexRange rows, IndexRange cols) {
    return in_blocks({rows, cols, true}, block, {n, n});
  };
  REQUIRE(window.study().selection());
  CHECK(window.study().selection()->first == snapped({10, 21}, {0, 7}).queries);
  window.study().select({2, 3}, {0, 1});  // another one before the pairs are there
  press(window, Qt::Key_I);
  busy.released.set_value();
  REQUIRE(window.settle());
  REQUIRE(window.study().session().columns.size() == 3);
  CHECK_FALSE(window.study().reads_drawn_pairs());
  DrawnPairs expected =
      drawn_from(window.study().columns()[1].computation->op->plan(), {block, block});
  expected.add(snapped({10, 21}, {0, 7}));
  expected.add(snapped({2, 3}, {0, 1}));
  CHECK(drawn_at(window, 2) == expected.text());
  CHECK(window.study().selected_column() == 2);
}

TEST_CASE("drawing on the pairs of a variant can be cancelled") {
  Window window(small);
  choose_window_column(window);
  BusyEngine busy(window);
  window.study().select({10, 21}, {0, 7});
  press(window, Qt::Key_I);
  window.trigger("cancel");
  CHECK_FALSE(window.study().reads_drawn_pairs());
  CHECK_FALSE(window.study().paused());
  busy.released.set_value();
  REQUIRE(wait_until([&] { return !window.study().requests().is_pending(BusyEngine::id); }));
  REQUIRE(window.settle());
  CHECK(window.study().session().columns.size() == 2);
  // Where the column is another one by then, it says so and draws nothing.
  BusyEngine again(window);
  QSignalSpy said(&window.study(), &Study::reported);
  press(window, Qt::Key_I);
  REQUIRE(window.study().reads_drawn_pairs());
  window->change("columns", [](Session& s) { s.columns[1].seed += 1; });
  window->editor().remove_column();
  again.released.set_value();
  REQUIRE(window.settle());
  REQUIRE(window.study().session().columns.size() == 1);
  CHECK(window.study().session().columns[0].variant == "exact");
  REQUIRE(said.size() == 1);
  CHECK(said.front().front().toString().contains("has changed: draw the rectangle again"));
}

TEST_CASE("a rectangle on another column is said to be dropped only while it waits") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "window", "fixed"});
  take_focus(window);
  REQUIRE(window.settle());
  BusyEngine busy(window);
  QSignalSpy said(&window.study(), &Study::reported);
  const auto draw_on = [&](Qt::Key column) {
    press(window, column);
    window.study().select({10, 21}, {0, 7});
    press(window, Qt::Key_I);
    REQUIRE(window.study().reads_drawn_pairs());
  };
  draw_on(Qt::Key_2);
  window.trigger("cancel");
  draw_on(Qt::Key_3);
  CHECK(said.isEmpty());
  draw_on(Qt::Key_2);
  REQUIRE(said.size() == 1);
  CHECK(said.front().front().toString().contains("draw the rectangle on it again"));
  busy.released.set_value();
}

TEST_CASE("the pairs of a column are saved in the form that is chosen") {
  const TemporaryDirectory directory;
  Window window(small);
  show(window, {find_view("mask")}, {"exact", "window"});
  take_focus(window);
  press(window, Qt::Key_2);
  const std::string path = directory / "pairs.safetensors";
  window->exports().save_pairs_to(QString::fromStdString(path), {SelectionForm::flex, {32, 16}});
  REQUIRE(wait_until([&] { return !window->exports().writing(); }, 20000));
  const TensorFile file = read_safetensors(path);
  CHECK(file.metadata.at("block_size") == "32, 16");
  CHECK(file.tensors.size() == 4);
}

}  // namespace fovea::test
