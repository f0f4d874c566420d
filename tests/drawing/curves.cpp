// A query's row over the keys, and curves.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "drawing/recording_ink.h"

using namespace fovea;
using namespace fovea::drawing;

TEST_CASE("a wide row lists the heaviest keys of each series that is drawn, once") {
  Panel panel;
  const RowCurve exact{.keys = {0, 8},
                       .exact = {0.1f, 0.4f, 0, 0, 0, 0.2f, 0, 0},
                       .approximate = {0.1f, 0.4f, 0, 0, 0, 0.2f, 0, 0},
                       .top_exact = {{1, 0.4f}, {5, 0.2f}},
                       .top_approximate = {{1, 0.4f}, {5, 0.2f}}};
  RowCurve both = exact;
  both.approximate = {0.3f, 0, 0, 0, 0, 0, 0, 0};
  both.top_approximate = {{0, 0.3f}};
  const auto listed = [&](const RowCurve& row, const std::string& weight, const char* hidden) {
    panel.body = row;
    const auto all = operations_of(panel, {0, 0, 800, 300}, {.hidden = {hidden}});
    return std::ranges::count(all, weight, &Operation::text);
  };
  CHECK(listed(exact, "0.4", "") == 1);
  CHECK(listed(exact, "0.2", "") == 1);
  CHECK(listed(exact, "0.4", "exact") == 0);
  CHECK(listed(both, "0.4", "") == 1);
  CHECK(listed(both, "0.3", "") == 1);
  CHECK(listed(both, "0.4", "exact") == 0);
  CHECK(listed(both, "0.3", "exact") == 1);
  CHECK(listed(both, "0.3", "approximate") == 0);
}

TEST_CASE("law: the legend of a row names its query wherever two lines hold it") {
  Panel panel;
  panel.body = RowCurve{.query = 3, .keys = {0, 8}, .exact = std::vector<float>(8, 0.125f)};
  bool one_line = false, two_lines = false, left_out = false;
  for (int width = 300; width >= 40; --width) {
    CAPTURE(width);
    const auto all = operations_of(panel, {0, 0, double(width), 300});
    const auto exact = std::ranges::find(all, "exact", &Operation::text),
               query = std::ranges::find_if(
                   all, [](const Operation&one) { return one.text.starts_with("query"); });
    if (query == all.end()) {
      left_out = true;
    } else {
      REQUIRE(exact != all.end());
      CHECK_FALSE(left_out);  // where there was more room
      (query->where.y > exact->where.y ? two_lines : one_line) = true;
    }
  }
  CHECK(one_line);
  CHECK(two_lines);
}

TEST_CASE("a strip without an amount says whether it is 0 or not defined") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto message = [](std::vector<float> values) {
    Panel panel;
    panel.body = Strip{.values = std::move(values), .quantity = "error"};
    std::string text;
    for (const Operation& one : operations_of(panel, {0, 0, 800, 300}, {}))
      if (one.kind == "text") text += one.text + " ";
    return text;
  };
  CHECK(message({0, 0}).find("error is 0 for every token ") != std::string::npos);
  CHECK(message({nan, nan}).find("error is not defined for any token ") != std::string::npos);
  CHECK(message({0, nan}).find("error is 0 for every token for which it is defined ") !=
        std::string::npos);
}

TEST_CASE("points with standard errors have bars of one to either side, and no line joins them") {
  const Rect frame{0, 0, 400, 300};
  CurvePlot plot;
  plot.curves.push_back({.points = {{2, 1}, {10, 2}}, .errors = {0.5, 2}});
  Panel panel;
  panel.body = plot;
  const FixedLettering letters;
  const double high =
      axes_of(panel, {.size = {frame.width, frame.height}, .letters = letters}).y->high;
  CHECK(high >= 4);  // the end of the longer bar
  const auto all = operations_of(panel, frame);
  CHECK(std::ranges::count(all, "path", &Operation::kind) == 0);
  CHECK(std::ranges::count(all, "dot", &Operation::kind) == 2);
  for (const auto& [x, from, to] : {std::tuple{2, 0.5, 1.5}, {10, 0.0, 4.0}}) {
    const Rect bar{frame.width * x / 10, frame.height * (1 - to / high), 0,
                   frame.height * (to - from) / high};
    CAPTURE(bar.x);
    CHECK(std::ranges::any_of(all, [&](const Operation& one) {
      const double off = std::abs(one.where.x - bar.x) + std::abs(one.where.y - bar.y) +
                         std::abs(one.where.width) + std::abs(one.where.height - bar.height);
      return one.kind == "line" && off < 1e-6;
    }));
  }
}

TEST_CASE("points that stand apart are dots with room around them, and no line joins them") {
  const Rect frame{0, 0, 400, 300};
  CurvePlot plot;
  plot.curves.push_back({.points = {{2, 1}, {10, 2}}, .apart = true});
  Panel panel;
  panel.body = plot;
  const auto all = operations_of(panel, frame);
  CHECK(std::ranges::count(all, "path", &Operation::kind) == 0);
  CHECK(std::ranges::count(all, "dot", &Operation::kind) == 2);
  const FixedLettering letters;
  const AxesRequest request{.size = {frame.width, frame.height}, .letters = letters};
  CHECK(axes_of(panel, request).x->high > 10);
  std::get<CurvePlot>(panel.body).curves[0].apart = false;
  CHECK(axes_of(panel, request).x->high == 10);
}
