// The sizes of leaves and buckets that the view of the tree draws, and what its panel says of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "allocations.h"
#include "analysis/leaf_skew.h"
#include "panels/scene.h"
#include "plan/leaves.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("leaves of a hash of 30 bits take bounded memory, and their panel says what a bar is") {
  Scene scene(make_data(Data::gaussian, 96, 4, 3, false), "hyper",
              {{"block", "8"}, {"samples", "8"}, {"projections", "30"}, {"min_length", "1"}});
  largest_allocation();
  const Panel panel = scene.panel(find_view("tree"));
  CHECK(largest_allocation() <= (std::size_t{1} << 20) * sizeof(Index));  // the sizes shown
  const auto& sizes = std::get<LeafSizes>(panel.body);
  CHECK(sizes.kind == "bucket");
  const Index shown = static_cast<Index>(sizes.keys.size());
  CHECK(shown * sizes.together == leaves_of(scene.computation.op->plan())->count);
  CHECK(std::accumulate(sizes.keys.begin(), sizes.keys.end(), Index{0}) == 96);
  CHECK(panel.caption.find(std::to_string(sizes.together) + " adjacent buckets") !=
        std::string::npos);
}

TEST_CASE("the tree's panel counts queries without keys as the diagnostics do, under the mask") {
  Scene scene(make_data(Data::gaussian, 60, 4, 3, true), "tf",
              {{"height", "4"}, {"tree", "random"}});
  const auto count = [](const std::vector<Diagnostic>& figures) {
    return std::ranges::find(figures, "queries_without_keys", &Diagnostic::id)->value;
  };
  const Panel panel = scene.panel(find_view("tree"));
  const double shown = count(std::get<LeafSizes>(panel.body).figures);
  CHECK(shown == count(scene.diagnostics));
  Run run{scene.profile};
  const auto without_mask = leaf_skew(*leaves_of(scene.computation.op->plan()), run);
  CHECK(shown > static_cast<double>(without_mask.queries_without_keys));
}
