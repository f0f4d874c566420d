// Two columns compared in the panels of one, and columns that are duplicated to be compared.
#include <doctest/doctest.h>

#include <QFileInfo>
#include <QStatusBar>
#include <QTemporaryDir>

#include "same_values.h"
#include "views/views.h"
#include "window/canvas_figure.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

/// "column with mode", of what is compared; empty if there was nothing.
std::string compared(Window& window) {
  const auto& now = window.study().comparison();
  if (!now) return "";
  const auto& columns = window.study().session().columns;
  constexpr const char* modes[] = {"split", "wipe", "blink"};
  return columns[std::size_t(now->column)].variant + " " + columns[std::size_t(now->with)].variant +
         " " + modes[int(now->mode)];
}

}  // namespace

TEST_CASE("C compares with exact in each way in turn, and Esc ends it") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d", "strided"});
  REQUIRE(window.settle());
  take_focus(window);
  const auto said = [&] { return window->statusBar()->currentMessage(); };
  press(window, Qt::Key_2);
  for (const char* expected : {"h1d exact split", "h1d exact wipe", "h1d exact blink", ""}) {
    press(window, Qt::Key_C);
    CHECK(compared(window) == expected);
  }
  press(window, Qt::Key_C);
  CHECK(said() == "H-Transformer-1D above, Exact below the diagonal; Esc ends it");
  press(window, Qt::Key_3);
  press(window, Qt::Key_C);
  CHECK(compared(window) == "strided exact split");  // of the column that is selected now
  press(window, Qt::Key_1);
  press(window, Qt::Key_C);
  CHECK(compared(window) == "exact h1d split");
  press(window, Qt::Key_Escape);
  CHECK(compared(window).empty());
  CHECK_FALSE(window.study().paused());

  press(window, Qt::Key_2);
  for (const auto& [key, mode, action] : {std::tuple{Qt::Key_D, "split", "compare_split"},
                                          {Qt::Key_W, "wipe", "compare_wipe"},
                                          {Qt::Key_K, "blink", "compare_blink"}}) {
    press(window, key);
    CHECK(compared(window) == std::string("h1d exact ") + mode);
    CHECK(window->findChild<QAction*>(action)->isChecked());
    press(window, key);
    CHECK(compared(window).empty());
    CHECK_FALSE(window->findChild<QAction*>(action)->isChecked());
  }
}

TEST_CASE("exact attention in the last column is compared with the one left of it") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"h1d", "strided", "exact"});
  REQUIRE(window.settle());
  take_focus(window);
  for (const auto& [key, expected] : {std::pair{Qt::Key_1, "h1d exact split"},
                                      {Qt::Key_2, "strided exact split"},
                                      {Qt::Key_3, "exact strided split"}}) {
    press(window, key);
    press(window, Qt::Key_C);
    CHECK(compared(window) == expected);
    press(window, Qt::Key_Escape);
  }
}

TEST_CASE("the comparison is drawn in place of one column, and Shift shows exact in all of it") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d", "strided"});
  REQUIRE(window.settle());
  take_focus(window);
  const int column = column_of(window, "h1d");
  const QImage own = picture_of(window, find_view("heatmap"), column),
               exact = picture_of(window, find_view("heatmap"), 0),
               error = picture_of(window, find_view("error"), column);
  const QImage other = picture_of(window, find_view("heatmap"), column_of(window, "strided"));
  const auto differing = [&](const QImage& a, const QImage& b, bool upper) {
    int count = 0, all = 0;
    for (int y = 0; y < a.height(); ++y)
      for (int x = 0; x < a.width(); ++x)
        if (upper ? x > y + 3 : y > x + 3) {
          ++all;
          count += a.pixel(x, y) != b.pixel(x, y);
        }
    return double(count) / all;
  };
  REQUIRE(differing(own, exact, true) > 0.1);
  REQUIRE(differing(own, exact, false) > 0.1);
  window.study().select_column(column);
  window.trigger("compare_split");
  REQUIRE(window.settle());
  be_still(window);
  const QImage both = picture_of(window, find_view("heatmap"), column);
  CHECK(differing(both, own, true) < 0.01);
  CHECK(differing(both, exact, false) < 0.01);
  CHECK(picture_of(window, find_view("heatmap"), column_of(window, "strided")) == other);
  // exact has no error to compare with
  CHECK(differing(picture_of(window, find_view("error"), column), error, false) < 0.01);
  QTest::keyPress(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  const QImage held = picture_of(window, find_view("heatmap"), column);
  CHECK(differing(held, exact, true) < 0.01);
  CHECK(differing(held, exact, false) < 0.01);
  QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, find_view("heatmap"), column) == both);
}

TEST_CASE("a causal head is not split, and one column is compared with none") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  window->change("causal", [](Session& s) { s.conditions.causal = true; });
  REQUIRE(window.settle());
  window.study().select_column(1);
  window.trigger("compare");
  CHECK(compared(window) == "h1d exact wipe");
  window.trigger("compare_split");
  CHECK(compared(window) == "h1d exact wipe");
  window.trigger("compare");
  window.trigger("compare");
  CHECK(compared(window).empty());
  window.trigger("remove");
  window.trigger("compare");
  CHECK(compared(window).empty());
}

TEST_CASE(
    "two columns that are split or wiped are exported in one panel, those that blink are not") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("row")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  const auto figure = [&] { return figure_of(*window.study().model(), 0.25, {}, {}); };
  const auto values = [&](int column) {
    return std::get<Raster>(figure().rows[0][std::size_t(column)].body).values;
  };
  const Matrix exact = values(0), alone = values(1);
  const auto compare = [&](const char* action, ComparisonMode mode) {
    window.trigger(action);
    return wait_until([&] {
      const auto& shown = window.study().model()->comparison;
      return shown && shown->mode == mode;
    });
  };
  REQUIRE(compare("compare_split", ComparisonMode::split));
  const Matrix split = values(1);
  const Panel panel = figure().rows[0][1];
  CHECK(panel.title == "H-Transformer-1D");
  CHECK(panel.caption.starts_with("H-Transformer-1D above, Exact below the diagonal"));
  CHECK(figure().rows[1][1].caption.find("below the diagonal") == std::string::npos);
  CHECK(same_values(values(0), exact));
  REQUIRE(compare("compare_wipe", ComparisonMode::wipe));
  const Matrix wiped = values(1);
  bool as_composed = true;
  const Index n = exact.rows();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      as_composed &= split(i, j) == (j >= i ? alone : exact)(i, j);
      as_composed &= wiped(i, j) == (4 * j < n ? alone : exact)(i, j);
    }
  CHECK(as_composed);
  const QTemporaryDir folder;
  CHECK(window.export_to(folder.filePath("wiped.png"), {}));
  CHECK(window->info_bar().message().isEmpty());
  REQUIRE(compare("compare_blink", ComparisonMode::blink));
  CHECK(same_values(values(1), alone));
  window->exports().export_to(folder.filePath("blinking.png"), {});
  CHECK(window->info_bar().message().contains("side by side"));
  CHECK(wait_until([&] { return QFileInfo::exists(folder.filePath("blinking.png")); }));
}

TEST_CASE("a split becomes a wipe where a causal mask leaves nothing above the diagonal") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  window.study().select_column(1);
  window.trigger("compare_split");
  REQUIRE(compared(window) == "h1d exact split");
  window->change("causal", [](Session& s) { s.conditions.causal = true; });
  CHECK(wait_until([&] { return compared(window) == "h1d exact wipe"; }));
}

TEST_CASE("a comparison goes with its columns when they are moved and ends with either of them") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d", "strided", "tf"});
  REQUIRE(window.settle());
  const auto compare = [&](int column, int with) {
    window.study().compare(Comparison{column, with, ComparisonMode::split});
  };
  compare(1, 3);
  REQUIRE(compared(window) == "h1d tf split");
  window->editor().move_column(3, 0);
  CHECK(compared(window) == "h1d tf split");
  window.study().select_column(3);  // strided
  window.trigger("remove");
  CHECK(compared(window) == "h1d tf split");
  window->editor().undo();
  window->editor().undo();
  CHECK(compared(window) == "h1d tf split");
  window->change("block", [&](Session& s) {
    set_value(find_variant("h1d").schema, s.columns[1].values, "block", "32");
  });
  CHECK(compared(window) == "h1d tf split");
  REQUIRE(window.settle());
  CHECK(window.study().model()->comparison == window.study().comparison());
  for (const int removed : {1, 3}) {
    compare(1, 3);
    window.study().select_column(removed);
    window.trigger("remove");
    CHECK(compared(window).empty());
    window->editor().undo();
  }
  compare(1, 3);
  window->open("synthetic:clusters?n=40&d=16&seed=1");
  REQUIRE(wait_until([&] { return window.study().length() == 40; }));
  CHECK(compared(window).empty());
}

TEST_CASE("a column is duplicated with its parameters, seed and range, in one step of undo") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "hyper", "strided"});
  window->change("seed", [](Session& s) {
    s.columns[1].seed = 5;
    s.settings.ranges = {{find_view("heatmap"), 1, 0, 0.5}, {find_view("heatmap"), 2, 0, 0.25}};
  });
  REQUIRE(window.settle());
  take_focus(window);
  press(window, Qt::Key_2);
  const Session before = window.study().session();
  press(window, Qt::Key_D, Qt::ControlModifier);
  const Session& now = window.study().session();
  REQUIRE(now.columns.size() == 4);
  CHECK(now.columns[2] == before.columns[1]);
  CHECK(now.columns[3] == before.columns[2]);
  CHECK(window.study().selected_column() == 2);
  CHECK(window.study().title_of(1) == "HyperAttention");
  CHECK(window.study().title_of(2) == "HyperAttention (2)");
  const auto high = [&](int column) {
    const ColourRange* range = now.settings.range_of(find_view("heatmap"), column);
    return range ? range->high : 0;
  };
  CHECK(high(1) == 0.5);
  CHECK(high(2) == 0.5);
  CHECK(high(3) == 0.25);
  REQUIRE(window.settle());
  CHECK(same_values(std::get<Raster>(panel(window, find_view("heatmap"), 2).body).values,
                    std::get<Raster>(panel(window, find_view("heatmap"), 1).body).values));

  // The two are compared while the parameters of either are changed.
  window.study().compare(Comparison{2, 1, ComparisonMode::wipe});
  for (const std::size_t column : {std::size_t(2), std::size_t(1)}) {
    window->change({}, [&](Session& s) { s.columns[column].seed = 8; });
    CHECK(window.study().comparison() == Comparison{2, 1, ComparisonMode::wipe});
    CHECK(window.study().title_of(2) ==
          (column == 2 ? "HyperAttention, seed 8" : "HyperAttention (2)"));
  }
  for (int step = 0; step < 3; ++step) window->editor().undo();
  CHECK(window.study().session() == before);
  CHECK_FALSE(window.study().comparison());
}

}  // namespace fovea::test
