// What is seen of a tree that learns.
#include <doctest/doctest.h>

#include <algorithm>

#include "panels/learning_panels.h"

using namespace fovea;

namespace {

LearningRecord record_of(Index snapshots) {
  LearningRecord record{.leaves = 4, .cost_limit = 1.2};
  record.start.error = 0.9;
  record.start.held_out_error = 0.95;
  for (Index step = 0; step < 3; ++step)
    record.curve.push_back({.step = 5 * step,
                            .error = 0.9 - 0.1 * double(step),
                            .held_out_error = 0.95 - 0.1 * double(step),
                            .chi = 0.25 + 0.01 * double(step),
                            .effective_leaves = 4 - 0.5 * double(step)});
  for (Index s = 0; s < snapshots; ++s) record.add({.step = s, .keys = {10 + s, 5}});
  return record;
}

const CurvePlot& plot_in(const std::vector<Panel>& panels, std::size_t p) {
  return std::get<CurvePlot>(panels[p].body);
}

}  // namespace

TEST_CASE("of many snapshots of leaves a few are kept, the first and the last among them") {
  for (const Index count : {1, 2, 12, 13, 40, 300}) {
    CAPTURE(count);
    const auto& kept = record_of(count).snapshots;
    CHECK(kept.size() <= 12);
    CHECK(kept.size() >= std::size_t(std::min<Index>(count, 6)));
    CHECK(kept.front().step == 0);
    CHECK(kept.back().step == count - 1);
    CHECK(std::ranges::is_sorted(kept, {}, &LeafSnapshot::step));
  }
}

TEST_CASE("curves of learning are those of the record, with what they are compared with") {
  const auto panels = make_panels(record_of(3));
  REQUIRE(panels.size() == 4);
  const auto& errors = plot_in(panels, 0);
  REQUIRE(errors.curves.size() == 2);
  CHECK(errors.curves[0].points[1] == std::pair(5., 0.9 - 0.1));
  CHECK(errors.curves[1].points[2] == std::pair(10., 0.95 - 0.2));
  CHECK(errors.levels[0].value == 1);
  CHECK(plot_in(panels, 1).curves[0].points[2].second == doctest::Approx(4 * 0.27));
  CHECK(plot_in(panels, 1).levels[0].value == 1.2);
  CHECK(plot_in(panels, 2).curves[0].points[1] == std::pair(5., 3.5));
  CHECK(plot_in(panels, 2).levels[0].value == 4);
}

TEST_CASE("leaf sizes are stairs from light to dark, and leaves without keys are on the ground") {
  const auto panels = make_panels(record_of(3));
  const auto& sizes = plot_in(panels, 3);
  REQUIRE(sizes.curves.size() == 3);
  CHECK(sizes.curves[0].shade == 0);
  CHECK(sizes.curves[2].shade == 1);
  CHECK(sizes.curves[0].name == "step 0");
  CHECK(sizes.curves[1].name.empty());
  CHECK(sizes.curves[2].name == "step 2");
  const std::vector<std::pair<double, double>> stairs{{0, 12}, {1, 12}, {1, 5},
                                                      {2, 5},  {2, 0},  {4, 0}};
  CHECK(sizes.curves[2].points == stairs);
}

TEST_CASE("without rows held out there is no curve of them") {
  LearningRecord record = record_of(1);
  record.start.held_out_error = std::numeric_limits<double>::quiet_NaN();
  CHECK(plot_in(make_panels(record), 0).curves.size() == 1);
}
