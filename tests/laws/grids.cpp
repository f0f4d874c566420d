// Patterns of pictures and videos against the counts of public implementations (attention-gym's
// masks/sta.py and masks/svg.py), and the grid that Fovea takes a head for.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "data/error.h"
#include "harness.h"
#include "memory_budget.h"
#include "variants/token_grid.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Index pairs_of(const char* id, Index n, const Settings& settings) {
  const Matrix p =
      make_instance(*backends().front(), make_data(Data::gaussian, n, 4, 3, false), id, settings)
          .all();
  Index pairs = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) pairs += p(i, j) > 0 ? 1 : 0;
  return pairs;
}

}  // namespace

TEST_CASE("grids: patterns have the numbers of pairs of public implementations") {
  const Settings canvas{{"height", "8"},       {"width", "8"},       {"tile_rows", "2"},
                        {"tile_columns", "2"}, {"tile_frames", "1"}, {"box_rows", "2"},
                        {"box_columns", "2"}};
  CHECK(pairs_of("sta", 64, canvas) == 1024);
  Settings video{{"height", "2"}, {"width", "3"}, {"text", "4"}, {"reach", "1"}};
  CHECK(pairs_of("svg", 22, video) == 328);
  video.push_back({"pattern", "temporal"});
  CHECK(pairs_of("svg", 22, video) == 304);
  // Four frames of two tokens: a token attends itself, the first frame, and its own place in frames
  // that are one or two away.
  CHECK(
      pairs_of("radial", 8, {{"height", "1"}, {"width", "2"}, {"text", "0"}, {"reach", "0.75"}}) ==
      8 + 14 + 10 + 6);
  // Four frames of four: all pairs of neighbours, and places less than two apart beyond.
  CHECK(pairs_of("radial", 16,
                 {{"height", "1"},
                  {"width", "4"},
                  {"text", "0"},
                  {"reach", "1"},
                  {"first_frame", "masked"}}) == 10 * 16 + 6 * 10);
  // 2 x 49 / 49 tokens apart, though 2 / 49 is no binary fraction: 49 x 49 frames of 3 x 49 - 2
  // near places.
  const Settings many{
      {"height", "7"}, {"width", "7"}, {"text", "0"}, {"reach", "2"}, {"pattern", "temporal"}};
  CHECK(pairs_of("svg", 2401, many) == 49 * 49 * (3 * 49 - 2));
}

TEST_CASE("grids: what is worth trying for a head of unknown origin costs less than exact") {
  const Variant& radial = find_variant("radial");
  std::set<Index> pairs;
  for (const Value& reach : radial.schema.front().worth_trying(256))
    pairs.insert(
        pairs_of("radial", 256,
                 {{"reach", to_text(reach)}, {"height", "16"}, {"width", "16"}, {"text", "0"}}));
  CHECK(pairs.size() == 4);
  CHECK(*pairs.rbegin() < 256 * 256);
  // The tiles are counted, and too many are refused before they are made.
  const Budget little(64 << 20);
  const Problem large = make_data(Data::gaussian, 4096, 1, 1, false);
  CHECK_THROWS_AS(make_plan(*backends().front(), large, "radial",
                            {{"height", "1"}, {"width", "1"}, {"reach", "4096"}}),
                  UnavailableError);
}

TEST_CASE("grids: a head of unknown origin is taken for a square picture") {
  for (const auto& [tokens, side, text] : {std::array<Index, 3>{256, 16, 0},
                                           {257, 16, 1},
                                           {261, 16, 5},
                                           {1370, 37, 1},
                                           {341, 19, 0},
                                           {2, 1, 1},
                                           {1, 1, 0}}) {
    const Index n = tokens;
    CAPTURE(n);
    const GridParameters grid = likely_grid(n);
    CHECK(grid.height == side);
    CHECK(grid.width == side);
    CHECK(grid.text == text);
  }
}

TEST_CASE("grids: a frame that is larger than any head takes no more memory than the head") {
  const Settings large{{"height", "131072"},
                       {"width", "131072"},
                       {"tile_rows", "1"},
                       {"tile_columns", "1"},
                       {"text", "0"}};
  CHECK(pairs_of("sta", 20, large) == 20 * 3);  // one row of 20 tiles, three of which are attended
}

TEST_CASE(
    "grids: tiles of a box that follow each other are one, and too many are refused at once") {
  const auto tiles_of = [](const Settings& settings) {
    const Problem problem = make_data(Data::gaussian, 400, 4, 3, false);
    const auto plan = make_plan(*backends().front(), problem, "sta", settings);
    return plan->as<TilePlan>()->passes.front().tiles.size();
  };
  Settings single{{"height", "20"},     {"width", "20"},       {"text", "0"},
                  {"tile_rows", "1"},   {"tile_columns", "1"}, {"box_rows", "3"},
                  {"box_columns", "20"}};
  CHECK(tiles_of(single) == 400);
  single.back().second = "19";
  CHECK(tiles_of(single) == 3 * 400);
  const Budget little(64 << 20);
  const Problem large = make_data(Data::gaussian, 20000, 1, 1, false);
  CHECK_THROWS_AS(make_plan(*backends().front(), large, "sta",
                            {{"height", "200"},
                             {"width", "100"},
                             {"text", "0"},
                             {"tile_rows", "1"},
                             {"tile_columns", "1"},
                             {"box_rows", "200"},
                             {"box_columns", "99"}}),
                  UnavailableError);
}

TEST_CASE("frames of a source in another order are said to be none, and clusters need none") {
  Problem head = make_data(Data::gaussian, 64, 4, 3, false);
  const auto notes = [&](const char* id) {
    std::string all;
    const auto plan = make_plan(*backends().front(), head, id, {});
    for (const std::string& note : plan->notes) all += note;
    return all;
  };
  for (const char* id : {"sta", "svg", "radial", "svg2"}) {
    CAPTURE(id);
    head.reordered = false;
    CHECK(notes(id).find("in another order") == std::string::npos);
    head.reordered = true;
    CHECK((notes(id).find("in another order") != std::string::npos) == (id != std::string("svg2")));
  }
}
