// Leaves: prepared once, and never more drawn than can be distinguished.
#include <doctest/doctest.h>

#include "drawing/bodies.h"
#include "drawing/fixed_lettering.h"
#include "drawing/recording_ink.h"

using namespace fovea;
using namespace fovea::drawing;

namespace {

LeafSizes many_leaves(int height) {
  LeafSizes leaves{.kind = "leaf"};
  for (Index l = 0; l < (Index{1} << height); ++l) {
    leaves.queries.push_back(1 + l * 7 % 5);
    leaves.keys.push_back(1 + l * 3 % 11);
  }
  leaves.branching.assign(static_cast<std::size_t>(height), 2);
  return leaves;
}

std::vector<Operation> drawn(const LeafSizes& leaves, const Rect& plot) {
  Panel panel;
  panel.body = leaves;
  return operations_of(panel, plot);
}

}  // namespace

TEST_CASE("a body of 2^16 leaves draws a few rectangles a pixel, not two a leaf") {
  const Rect plot{0, 100, 280, 200};
  // A bar of each kind every two pixels, eight levels of the icicle, and some words.
  CHECK(drawn(many_leaves(16), plot).size() < 280 + 8 * 140 + 40);
  CHECK(drawn(many_leaves(4), plot).size() > 32);
}

TEST_CASE("merged bars are as high as the largest leaf among them") {
  LeafSizes leaves = many_leaves(16);
  leaves.keys[40000] = 500;
  const Rect plot{0, 100, 280, 200};
  double highest = 0, at = 0;
  for (const Operation& one : drawn(leaves, plot))
    if (one.kind == "part" && one.where.height > highest)
      highest = one.where.height, at = one.where.x;
  CHECK(highest == doctest::Approx(plot.height / 1.04));  // the axis ends a little above
  CHECK(at == doctest::Approx(280.0 * 40000 / 65536).epsilon(0.02));
}

TEST_CASE("the dashed line stands at the mean number of keys, which need not be whole") {
  LeafSizes leaves{.kind = "bucket", .queries = std::vector<Index>(10, 4)};
  leaves.keys = {4, 1, 1, 1, 1, 1, 1, 3, 3, 3};  // 19 in all
  const Rect plot{0, 100, 280, 200};
  int lines = 0;
  for (const Operation& one : drawn(leaves, plot)) {
    if (one.kind != "dashed line") continue;
    ++lines;
    // The axis ends a little above the largest.
    CHECK(plot.bottom() - one.where.y == doctest::Approx(plot.height * 1.9 / (1.04 * 4)));
  }
  CHECK(lines == 1);
}

TEST_CASE("a point in the icicle finds the leaves below its node, one over the bars its leaf") {
  const LeafSizes leaves = many_leaves(3);
  const FixedLettering letters;
  const LeafPlace place{leaves, {0, 100, 80, 200}, letters, 1};
  CHECK(leaves_at(place, {15, 250}).begin == 1);
  CHECK(leaves_at(place, {15, 250}).size() == 1);
  const LeafSizes more = many_leaves(16);
  for (const double y : {100, 250})  // the bars begin at 100
    CHECK(leaves_at({more, {0, 100, 80, 200}, letters, 1}, {15, y}).size() == 1);
  const Rect all = place_of_leaves(place, {0, 8});
  CHECK(leaves_at(place, {15, all.y + 1}).size() == 8);  // the root
  CHECK(leaves_at(place, {15, all.y - 1}).size() == 0);
}
