// Two panels in one place: each number is that of the panel whose part it lies in.
#include "panels/compared_panel.h"

#include <doctest/doctest.h>

using namespace fovea;

namespace {

Panel raster_panel(Index side, float first, double low, double high) {
  Raster raster{.values = Matrix(side, side), .rows = {10, 18}, .cols = {12, 20}};
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c) raster.values(r, c) = first + float(10 * r + c);
  raster.low = low;
  raster.high = high;
  raster.quantity = "P";
  return {.title = "A", .caption = "a", .body = raster};
}

}  // namespace

TEST_CASE("a compared matrix has the first panel on its diagonal and above, the second below") {
  const Panel first = raster_panel(8, 0, 0.1, 0.5), second = raster_panel(4, 1000, 0, 0.4);
  const auto both = compared_panel(first, second, {});
  REQUIRE(both);
  CHECK(both->title == "A");
  const auto& raster = std::get<Raster>(both->body);
  CHECK(raster.low == 0);
  CHECK(raster.high == 0.5);
  for (Index r = 0; r < 8; ++r)
    for (Index c = 0; c < 8; ++c) {
      CAPTURE(r);
      CAPTURE(c);
      const bool above = 12 + c >= 10 + r;  // of the matrix, not of the part that is seen
      CHECK(raster.values(r, c) == float(above ? 10 * r + c : 1000 + 10 * (r / 2) + c / 2));
    }
}

TEST_CASE("a wiped matrix has the first panel left of the border") {
  const Panel first = raster_panel(8, 0, 0, 1), second = raster_panel(8, 1000, 0, 1);
  const auto both = compared_panel(first, second, WipeBorder{.key = 14.4});
  REQUIRE(both);
  const auto& raster = std::get<Raster>(both->body);
  for (Index c = 0; c < 8; ++c)  // keys 12 to 19, of which the middles of two lie left of 14.4
    CHECK(raster.values(5, c) == float(c < 2 ? 50 + c : 1050 + c));
}

TEST_CASE("a block of a rank map is of one panel, and a picture is split along its diagonal") {
  const auto blocks = [](int rank) {
    BlockMap map{.quantity = "rank"};
    map.map.lengths = {8, 8};
    for (const Index i : {0, 4})
      for (const Index j : {0, 4}) map.map.blocks.push_back({{i, i + 4}, {j, j + 4}, 0, rank, {}});
    return Panel{.body = map};
  };
  const auto both = compared_panel(blocks(1), blocks(2), {});
  REQUIRE(both);
  const auto& map = std::get<BlockMap>(both->body).map;
  REQUIRE(map.blocks.size() == 4);
  for (const RankBlock& block : map.blocks)
    CHECK(block.rank == (block.cols.begin >= block.rows.begin ? 1 : 2));
  const auto picture = [](float grey) {
    return Panel{.body = OutputPicture{2, 4, std::vector<float>(24, grey)}};
  };
  const auto seen = compared_panel(picture(0.25f), picture(0.75f), {});
  REQUIRE(seen);
  const auto& rgb = std::get<OutputPicture>(seen->body).rgb;
  // Middles at (1/4, 3/4) down and (1/8, 3/8, 5/8, 7/8) across.
  const float expected[] = {0.75f, 0.25f, 0.25f, 0.25f, 0.75f, 0.75f, 0.75f, 0.25f};
  for (std::size_t p = 0; p < 8; ++p) CHECK(rgb[3 * p] == expected[p]);
}

TEST_CASE("panels of other quantities, tokens or kinds are not composed") {
  const Panel first = raster_panel(8, 0, 0, 1);
  Panel other = first;
  std::get<Raster>(other.body).quantity = "|P̃ − P|";
  CHECK_FALSE(compared_panel(first, other, {}));
  other = first;
  std::get<Raster>(other.body).cols = {0, 8};
  CHECK_FALSE(compared_panel(first, other, {}));
  other.body = Message{"None."};
  CHECK_FALSE(compared_panel(first, other, {}));
  CHECK_FALSE(compared_panel(other, other, {}));
}
