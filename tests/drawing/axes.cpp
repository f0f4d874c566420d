// Axes of tokens and of amounts.
#include "drawing/axes.h"

#include <doctest/doctest.h>

#include "data/compressed_entries.h"
#include "drawing/fixed_lettering.h"
#include "drawing/recording_ink.h"

using namespace fovea;
using namespace fovea::drawing;

TEST_CASE("a tick stands at the middle of a wide token and at the beginning of a narrow one") {
  const FixedLettering letters;
  for (const Tick& tick : query_axis({0, 16}, 320, letters, {}).ticks)
    CHECK(tick.at == std::stod(tick.label) + 0.5);
  for (const Tick& tick : query_axis({0, 1024}, 320, letters, {}).ticks)
    CHECK(tick.at == std::stod(tick.label));
}

TEST_CASE("tokens are named where there is room for their names") {
  const FixedLettering letters;
  const Sequence sequence{{"the", "eye", "", "\n"}, {}};
  const PanelAxis close = key_axis({0, 4}, 320, letters, TokenNames(sequence));
  REQUIRE(close.named);
  REQUIRE(close.ticks.size() == 4);
  CHECK(close.ticks[1].label == "eye");
  CHECK(close.ticks[3].label == "↵");
  CHECK_FALSE(key_axis({0, 4}, 20, letters, TokenNames(sequence)).named);
  CHECK_FALSE(key_axis({0, 4}, 320, letters, {}).named);
}

TEST_CASE("compressed entries are counted apart from the tokens, behind a border") {
  const FixedLettering letters;
  CompressedEntries entries{.tokens = 100, .stands_for = {}};
  for (Index e = 0; e < 25; ++e) entries.stands_for.push_back({4 * e, 4 * e + 4});
  const Sequence sequence{.compressed = std::make_shared<const CompressedEntries>(entries)};
  const PanelAxis all = key_axis({0, 125}, 400, letters, TokenNames(sequence));
  CHECK(all.border == 100);
  CHECK(all.label == "key (e: compressed)");
  CHECK_FALSE(all.named);
  Index of_entries = 0;
  for (const Tick& tick : all.ticks) {
    const bool entry = tick.label.starts_with("e");
    CHECK(entry == (tick.at >= 100));
    CHECK(tick.at == std::stod(tick.label.substr(entry)) + (entry ? 100 : 0));
    of_entries += entry;
  }
  CHECK(of_entries >= 2);
  CHECK(all.ticks.size() > static_cast<std::size_t>(of_entries) + 2);
  const PanelAxis tokens = key_axis({0, 100}, 400, letters, TokenNames(sequence)),
                  behind = key_axis({100, 125}, 400, letters, TokenNames(sequence));
  CHECK_FALSE(tokens.border);
  CHECK(tokens.label == "key");
  CHECK_FALSE(behind.border);
  CHECK(behind.label == "key (e: compressed)");
  CHECK(behind.ticks.front().label == "e0");
  const AxisNames of_keys(sequence);
  CHECK(of_keys.numbered(105, letters, 1000) == "entry 5: tokens 20–23");
  CHECK(of_keys.numbered(105, letters, 60) == "entry 5");
  CHECK(of_keys.numbered(99, letters, 1000) == "99");
  Panel panel;
  panel.body = Raster{.values = Matrix(4, 5), .rows = {0, 100}, .cols = {0, 125}};
  const Axes axes =
      axes_of(panel, {.size = {400, 300}, .letters = letters, .names = TokenNames(sequence)});
  CHECK(axes.x->label == "key (e: compressed)");
  CHECK(axes.x->border == 100);
}

TEST_CASE("a tick keeps all digits of a code") {
  const FixedLettering letters;
  const Sequence sequence{{"<0xF0>", "U+200D", " <0xE4><0xBD>", "internationalization", "a<0xF0"},
                          {}};
  const PanelAxis axis = key_axis({0, 5}, 400, letters, TokenNames(sequence));
  REQUIRE(axis.ticks.size() == 5);
  CHECK(axis.ticks[0].label == "<0xF0>");
  CHECK(axis.ticks[1].label == "U+200D");
  CHECK(axis.ticks[2].label == "·<0xE4>…");
  CHECK(axis.ticks[3].label.ends_with("…"));
  CHECK(axis.ticks[4].label == "a<0xF0");
}

TEST_CASE("a number keeps its side beside Hebrew and Arabic") {
  const FixedLettering letters;
  const Sequence sequence{{"עולם", "سلام", "eye"}, {}};
  const TokenNames names(sequence);
  CHECK(names.keys.numbered(0, letters, 1000) == "0 “\u2068עולם\u2069”");
  CHECK(names.keys.numbered(1, letters, 1000) == "1 “\u2068سلام\u2069”");
  CHECK(names.keys.numbered(2, letters, 1000) == "2 “eye”");
  const PanelAxis axis = key_axis({0, 3}, 320, letters, names);
  CHECK(axis.ticks[0].label.starts_with("\u2068ע"));
  CHECK(axis.ticks[0].label.ends_with("\u2069"));
  CHECK(axis.ticks[2].label == "eye");
  CHECK(sequence.numbered(0) == "0 “\u2068עולם\u2069”");
}

TEST_CASE("the axes of a rank map are those of its queries and of its keys") {
  const FixedLettering letters;
  BlockMap blocks;
  blocks.map.lengths = {7, 24};
  blocks.map.blocks = {{{0, 7}, {0, 12}, 0, 1, {}}, {{0, 7}, {12, 24}, 0, 2, {}}};
  Panel panel;
  panel.body = blocks;
  const Axes axes = axes_of(panel, {.size = {240, 70}, .letters = letters});
  CHECK(axes.x->high == 24);
  CHECK(axes.y->high == 7);
}

TEST_CASE(
    "the axes of a raster are of queries and keys, unless it says what its rows and columns are") {
  const FixedLettering letters;
  Raster raster;
  raster.values = Matrix(12, 6);
  raster.rows = {0, 12};
  raster.cols = {0, 6};
  Panel panel;
  panel.body = raster;
  const AxesRequest request{.size = {240, 70}, .letters = letters};
  CHECK(axes_of(panel, request).y->label == "query");
  CHECK(axes_of(panel, request).x->label == "key");
  raster.rows_name = "head";
  raster.cols_name = "layer";
  panel.body = raster;
  const Axes named = axes_of(panel, request);
  CHECK(named.y->label == "head");
  CHECK(named.x->label == "layer");
  CHECK(named.x->high == 6);
}

TEST_CASE("an axis of amounts has at least two numbers, however little room there is") {
  const FixedLettering letters;
  for (const double top : {1.0, 4.1, 9.0, 61.0, 2100.0, 0.003})
    for (const double side : {8.0, 30.0, 60.0, 300.0}) {
      CAPTURE(top);
      CAPTURE(side);
      const AxesRequest request{.size = {side, side}, .letters = letters, .top = top};
      Panel panel;
      panel.body = LeafSizes{.queries = {1}};
      CHECK(axes_of(panel, request).y->ticks.size() >= 2);
      panel.body = Strip{.values = {1}};
      CHECK(axes_of(panel, request).x->ticks.size() >= 2);
    }
}

TEST_CASE("numbers of keys keep their distance") {
  const FixedLettering letters;
  for (const double n : {10.0, 384.0, 5000.0, 131072.0})
    for (const double width : {60.0, 140.0, 600.0}) {
      const PanelAxis axis = key_axis({0, n}, width, letters, {});
      double free = -1e9;
      for (const Tick& tick : axis.ticks) {
        const double x = axis.place(tick.at, 0, width), half = letters.width(tick.label) / 2;
        CHECK(x - half >= free);
        free = x + half;
      }
    }
}

TEST_CASE("law: zeros lie on a logarithmic axis, below all other amounts and above its end") {
  for (const std::pair<double, double>& ends : {std::pair{10.0, 210.0}, {210.0, 10.0}}) {
    const double from = ends.first, to = ends.second;
    PanelAxis axis{.low = 1, .high = 100, .logarithmic = true, .zeros = 0.1};
    const auto share = [&](double value) {
      return (axis.place(value, from, to) - from) / (to - from);
    };
    CHECK(share(0) > 0);
    CHECK(share(0) < share(1));
    CHECK(share(1) == doctest::Approx(0.1));
    CHECK(share(10) == doctest::Approx(0.55));
    CHECK(share(100) == doctest::Approx(1));
  }
}

TEST_CASE("law: amounts above the low end of their axis have grid lines, and nothing else has") {
  const FixedLettering letters;
  const Style style;
  for (const bool across : {false, true})
    for (const bool up : {false, true}) {
      const PanelAxis amounts{
          .low = 1, .high = 3, .ticks = {{1, "1"}, {2, "2"}, {3, "3"}}, .amounts = true};
      PanelAxis tokens = amounts;
      tokens.amounts = false;
      const Axes axes{across ? amounts : tokens, up ? amounts : tokens};
      RecordingInk ink(letters, style);
      draw_grid_lines(ink, {{0, 0, 100, 100}, axes});
      std::vector<double> lines;
      for (const Operation& one : ink.operations)
        lines.push_back(one.where.width == 0 ? one.where.x : one.where.y);
      std::vector<double> expected;
      if (across) expected = {50, 100};
      if (up) expected.insert(expected.end(), {50, 0});
      CHECK(lines == expected);
    }
}
