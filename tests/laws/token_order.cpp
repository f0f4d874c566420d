// Orders of the tokens of pictures and videos: the Hilbert curve, tiles, and their texts.
#include "variants/token_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "data/error.h"
#include "data/random.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

TokenOrder order_from(const std::string& text) {
  return order_of(parse_order(text, defaults(order_schema())));
}

}  // namespace

TEST_CASE("orders: the Hilbert curve meets each cell once, and each step goes to a neighbour") {
  for (const int axes : {2, 3})
    for (const int bits : {1, 2, 3, 4}) {
      CAPTURE(axes);
      CAPTURE(bits);
      const std::uint32_t side = 1u << bits, depth = axes == 3 ? side : 1;
      std::vector<std::array<std::uint32_t, 3>> at(side * side * depth, {side, side, side});
      for (std::uint32_t x = 0; x < side; ++x)
        for (std::uint32_t y = 0; y < side; ++y)
          for (std::uint32_t z = 0; z < depth; ++z) {
            const std::uint64_t place = hilbert_place({x, y, z}, axes, bits);
            REQUIRE(place < at.size());
            REQUIRE(at[place][0] == side);  // no other cell has it
            at[place] = {x, y, z};
          }
      CHECK(at.front() == std::array<std::uint32_t, 3>{0, 0, 0});
      for (std::size_t place = 1; place < at.size(); ++place) {
        int steps = 0;
        for (std::size_t a = 0; a < 3; ++a)
          steps += std::abs(static_cast<int>(at[place][a]) - static_cast<int>(at[place - 1][a]));
        REQUIRE(steps == 1);
      }
    }
}

TEST_CASE("orders: any grid gives a permutation that leaves the text in its place") {
  Random random(5, 0);
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    const auto below = [&](double most) {
      return std::to_string(1 + int(random.uniform() * most));
    };
    const auto n = static_cast<Index>(1 + random.uniform() * 300);
    const Index text = std::min<Index>(n, static_cast<Index>(random.uniform() * 9));
    const bool last = trial % 2 == 1;
    const TokenOrder order =
        order_from(std::string(trial % 3 == 0 ? "hilbert" : "tiles") + ",height=" + below(9) +
                   ",width=" + below(9) + ",text=" + std::to_string(text) +
                   ",tile_rows=" + below(4) + ",tile_columns=" + below(4) +
                   ",tile_frames=" + below(4) + (last ? ",text_place=last" : ""));
    const std::vector<std::int32_t> tokens = tokens_in_order(order, n);
    CHECK(std::set<std::int32_t>(tokens.begin(), tokens.end()).size() ==
          static_cast<std::size_t>(n));
    CHECK(*std::ranges::min_element(tokens) == 0);
    CHECK(*std::ranges::max_element(tokens) == n - 1);
    for (Index i = 0; i < text; ++i) {
      const Index at = last ? n - text + i : i;
      CHECK(tokens[static_cast<std::size_t>(at)] == at);
    }
  }
}

TEST_CASE("orders: tiles follow one another, row by row within") {
  // Two frames of 2 x 4 behind a class token, tiles of 2 frames, 1 row and 2 columns.
  const TokenOrder order =
      order_from("tiles,height=2,width=4,text=1,tile_frames=2,tile_rows=1,tile_columns=2");
  CHECK(tokens_in_order(order, 17) ==
        std::vector<std::int32_t>{0, 1, 2, 9, 10, 3, 4, 11, 12, 5, 6, 13, 14, 7, 8, 15, 16});
  // One tile is the order of the source.
  std::vector<std::int32_t> same(17);
  std::iota(same.begin(), same.end(), 0);
  CHECK(tokens_in_order(order_from("tiles,height=2,width=4,text=1"), 17) == same);
}

TEST_CASE("orders: a text gives the values that it was made from, and a wrong one is refused") {
  const Values standard = defaults(order_schema());
  CHECK(order_text(standard, standard) == "hilbert");
  for (const char* text : {"hilbert", "tiles", "hilbert,height=7,text=1",
                           "tiles,tile_rows=3,tile_frames=2,width=9,text_place=last"})
    CHECK(order_text(parse_order(text, standard), standard) == text);
  // What changes nothing is not written.
  CHECK(order_text(parse_order("hilbert,tile_rows=3", standard), standard) == "hilbert");
  for (const auto& [text, found] : {std::pair{"", "path"},
                                    {"peano", "peano"},
                                    {"hilbert,height", "height"},
                                    {"hilbert,height=0", "height"},
                                    {"hilbert,height=2x", "2x"},
                                    {"hilbert,heigth=2", "heigth"},
                                    {"tiles,", "NAME=VALUE"}}) {
    const std::string order = text;
    CAPTURE(order);
    const std::string message = message_of<UsageError>([&] { parse_order(order, standard); });
    CHECK(message.find(found) != message.npos);
  }
}
