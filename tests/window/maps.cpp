// Heads beyond 8192 tokens: shown as maps, at once as an estimate and then exactly.
#include <doctest/doctest.h>

#include <QTest>
#include <algorithm>
#include <cmath>

#include "larger_error.h"
#include "views/views.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

const CanvasCell& cell(const Study& study, View view, std::size_t column) {
  const auto& model = *study.model();
  const auto row = std::ranges::find(model.views, view) - model.views.begin();
  return model.cells[std::size_t(row)][column];
}

const Raster* raster(const Study& study, View view, std::size_t column) {
  if (!study.model() || study.model()->cells.empty()) return nullptr;
  const auto& panel = cell(study, view, column).panel;
  return panel ? std::get_if<Raster>(&panel->body) : nullptr;
}

void look_at(Window& window, double row, double col, double span) {
  window->change("look", [&](Session& s) { s.viewport = {row, row + span, col, col + span}; });
}

/// A window that has drawn a short head, and then opened a long one.
struct LongWindow : Window {
  explicit LongWindow(Index n) : Window(small) {
    (*this)->open(QString("synthetic:clusters?n=%1&d=32&seed=1").arg(n));
    REQUIRE(wait_until([&] { return study().length() == n && study().problem(); }));
  }
};

}  // namespace

TEST_CASE("a long head is shown at once as a labelled estimate, which becomes exact by itself") {
  LongWindow window(24000);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  const Study& study = window.study();
  REQUIRE(wait_until([&] { return raster(study, find_view("heatmap"), 0) != nullptr; }));
  const Raster* first = raster(study, find_view("heatmap"), 0);
  CHECK(first->estimated > 0);
  CHECK(cell(study, find_view("heatmap"), 0).panel->caption.find("estimate from 1 of ") !=
        std::string::npos);
  CHECK(cell(study, find_view("heatmap"), 0).status.find("exact") != std::string::npos);
  CHECK_FALSE(cell(study, find_view("heatmap"), 0).stale);
  REQUIRE(wait_until([&] { return study.fully_refined(); }, 180000));
  for (std::size_t column = 0; column < study.columns().size(); ++column) {
    const Raster* last = raster(study, find_view("heatmap"), column);
    REQUIRE(last);
    CHECK(last->complete);
    CHECK(last->estimated == 0);
    CHECK(cell(study, find_view("heatmap"), column).panel->caption.find("estimate") ==
          std::string::npos);
    CHECK(cell(study, find_view("heatmap"), column).status.empty());
  }
  // Exact attention has its output too, and the other column is compared with it.
  REQUIRE(study.exact()->computation->applied());
  CHECK(wait_until([&] { return study.columns()[1].metrics != nullptr; }));
}

TEST_CASE("single entries of a long head are shown before all of its map is exact") {
  LongWindow window(12000);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "hyper"});
  look_at(window, 9000, 5000, 300);
  const Study& study = window.study();
  REQUIRE(wait_until([&] {
    const Raster *p = raster(study, find_view("heatmap"), 0),
                 *e = raster(study, find_view("error"), 1);
    return p && e && p->complete && e->complete && p->rows == IndexRange{9000, 9300};
  }));
  const Raster& p = *raster(study, find_view("heatmap"), 0);
  const Raster& e = *raster(study, find_view("error"), 1);
  CHECK(p.pooled == Pool::Kind::none);
  Profile profile;
  Run run{profile};
  window.study().cancel();  // operators must not be used by two threads at once
  REQUIRE(wait_until([&] { return !study.status().busy(); }));
  const Matrix exact = study.exact()->computation->op->tile({9000, 9300}, {5000, 5300}, run);
  const Matrix hyper = study.columns()[1].computation->op->tile({9000, 9300}, {5000, 5300}, run);
  double worst = 0, worst_error = 0;
  for (Index i = 0; i < 300; ++i)
    for (Index j = 0; j < 300; ++j) {
      worst = larger_error(worst, double(p.values(i, j)) - double(exact(i, j)));
      worst_error =
          larger_error(worst_error, double(e.values(i, j)) - double(hyper(i, j) - exact(i, j)));
    }
  CHECK(worst == 0);
  CHECK(worst_error == 0);
}

TEST_CASE("while a long head is panned and zoomed, no panel is ever blank") {
  LongWindow window(12000);
  show(window, {find_view("heatmap"), find_view("error")}, {"exact", "h1d"});
  const Study& study = window.study();
  REQUIRE(wait_until([&] {
    return raster(study, find_view("heatmap"), 0) && raster(study, find_view("heatmap"), 1) &&
           raster(study, find_view("error"), 1);
  }));
  int blank = 0, not_a_number = 0, coarse = 0;
  for (int step = 0; step < 40; ++step) {
    look_at(window, 200.0 * step, 11000 - 250.0 * step, 400.0 + 10 * step);
    QTest::qWait(20);
    for (std::size_t column : {0, 1}) {
      const Raster* p = raster(study, find_view("heatmap"), column);
      if (!p) {
        ++blank;
        continue;
      }
      coarse += !p->complete;
      for (Index r = 0; r < p->values.rows(); ++r)
        for (Index c = 0; c < p->values.cols(); ++c) not_a_number += std::isnan(p->values(r, c));
    }
  }
  CHECK(blank == 0);
  CHECK(not_a_number == 0);
  CHECK(coarse > 0);  // else no coarse picture was needed, and the test shows nothing
}

TEST_CASE("what needs all of exact attention says so until it is there") {
  LongWindow window(24000);
  show(window, {find_view("heatmap"), find_view("output")}, {"exact", "h1d"});
  const Study& study = window.study();
  REQUIRE(wait_until([&] {
    return study.exact() && !study.model()->cells.empty() && study.columns()[1].computation &&
           !cell(study, find_view("output"), 1).status.empty();
  }));
  CHECK_FALSE(study.exact()->computation->applied());
  REQUIRE(wait_until(
      [&] { return cell(study, find_view("output"), 1).panel && study.fully_refined(); }, 180000));
  CHECK(study.exact()->computation->applied());
  CHECK(std::holds_alternative<Strip>(cell(study, find_view("output"), 1).panel->body));
}

TEST_CASE("cancelling keeps what was computed of a long head, and resuming continues from there") {
  LongWindow window(65536);  // so long that a picture is drawn while only a part is exact
  show(window, {find_view("heatmap")}, {"exact"});
  Study& study = window.study();
  REQUIRE(wait_until([&] {
    const Raster* p = raster(study, find_view("heatmap"), 0);
    return p && p->estimated > 0 && p->estimated < 1;
  }));
  study.cancel();
  REQUIRE(wait_until([&] { return !study.status().busy(); }));
  QTest::qWait(300);
  const auto kept =
      cell(study, find_view("heatmap"), 0).panel;  // shared: no later one has its address
  REQUIRE(raster(study, find_view("heatmap"), 0));
  const double share = raster(study, find_view("heatmap"), 0)->estimated;
  study.resume();
  REQUIRE(wait_until([&] {
    return raster(study, find_view("heatmap"), 0) &&
           cell(study, find_view("heatmap"), 0).panel != kept;
  }));
  CHECK(raster(study, find_view("heatmap"), 0)->estimated <= share);
  CHECK(wait_until([&] { return study.fully_refined(); }, 180000));
}

TEST_CASE("the line of a panel shows the progress that its status names") {
  LongWindow window(65536);  // so long that some progress is seen
  const auto shown = [&] {
    for (const auto& row : window.study().model()->cells)
      for (const CanvasCell& cell : row)
        if (const auto sign = cell.status.find(" %"); sign != std::string::npos) {
          const auto first = cell.status.find_last_of(' ', sign - 1) + 1;
          REQUIRE(cell.progress);
          const double percent = std::stod(cell.status.substr(first));
          CHECK(std::abs(100 * *cell.progress - percent) < 1.01);
          if (percent >= 2) return true;
        }
    return false;
  };
  CHECK(wait_until(shown));
}

}  // namespace fovea::test
