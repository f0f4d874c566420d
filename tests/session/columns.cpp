// Columns of a next Session, and the tokens that a Viewport shows.
#include <doctest/doctest.h>

#include "session/session.h"

using namespace fovea;

TEST_CASE("equal columns keep their ranges and their order when columns move") {
  const Column exact{"exact", {}, 0}, tree{"tf", {}, 0}, window{"window", {}, 0};
  const std::vector<Column> from{window, tree, tree, exact}, to{exact, tree, tree};
  CHECK(moved_column(from, to, 1) == 1);
  CHECK(moved_column(from, to, 2) == 2);
  CHECK(moved_column(from, to, 3) == 0);
  CHECK_FALSE(moved_column(from, to, 0));
  CHECK_FALSE(moved_column(from, to, 4));
  CHECK_FALSE(moved_column(from, {tree}, 2));
  const auto moved =
      with_moved_columns({{View(), -1, 0, 1}, {View(), 0, 0, 2}, {View(), 2, 0, 3}},
                         [&](std::size_t column) { return moved_column(from, to, column); });
  REQUIRE(moved.size() == 2);
  CHECK(moved[0].column == -1);
  CHECK(moved[1].column == 2);
  CHECK(moved[1].high == 3);
}

TEST_CASE("session: a column goes on where it is, else the same variant at its place") {
  const Column exact{.variant = "exact", .values = {}, .seed = 0};
  const Column first{.variant = "hyper", .values = {}, .seed = 1};
  const Column second{.variant = "hyper", .values = {}, .seed = 2};
  const Column changed{.variant = "hyper", .values = {}, .seed = 3};
  using Places = std::vector<int>;
  CHECK(continued_columns({exact, first, second}, {exact, first, second}) == Places{0, 1, 2});
  CHECK(continued_columns({exact, first, second}, {second, exact}) == Places{2, 0});
  CHECK(continued_columns({exact, first}, {exact, changed}) == Places{0, 1});
  CHECK(continued_columns({exact, first}, {changed, exact}) == Places{-1, 0});
  CHECK(continued_columns({first, second}, {second, changed}) == Places{1, -1});
  CHECK(continued_columns({first}, {first, first}) == Places{0, -1});
  // The first of two equal columns is changed: each goes on at its place.
  CHECK(continued_columns({exact, first, first}, {exact, changed, first}) == Places{0, 1, 2});
}

TEST_CASE("session: columns of one variant are named by the parameters in which they differ") {
  const Variant& h1d = find_variant("h1d");
  Column exact{.variant = "exact", .values = {}, .seed = 0}, first{"h1d", defaults(h1d.schema), 0};
  set_value(h1d.schema, first.values, "block", "38");
  CHECK(label_of({exact, first}, 0) == "Exact");
  CHECK(label_of({exact, first}, 1) == "H-Transformer-1D");
  Column second = first;
  set_value(h1d.schema, second.values, "block", "16");
  CHECK(label_of({first, exact, second}, 0) == "H-Transformer-1D, block 38");
  CHECK(label_of({first, exact, second}, 2) == "H-Transformer-1D, block 16");
  second.seed = 7;
  CHECK(label_of({first, second}, 1) == "H-Transformer-1D, block 16, seed 7");
  CHECK(label_of({first, first}, 0) == "H-Transformer-1D");  // nothing differs
  CHECK(label_of({first, first}, 1) == "H-Transformer-1D (2)");
  CHECK(label_of({first, second, first}, 2) == "H-Transformer-1D, block 38, seed 0 (2)");
  // Long settings by their beginning, which may be that of several columns.
  const auto drawn = [](const std::string& pairs) {
    Column column{.variant = "drawn", .values = defaults(find_variant("drawn").schema)};
    column.values[0] = pairs;
    return column;
  };
  const std::vector<Column> long_ones{drawn("0-255/0-16383 256-383/256-16383 512"), drawn("7"),
                                      drawn("0-255/0-16383 256-383/256-16383 513")};
  CHECK(label_of(long_ones, 0) == "Drawn, pairs 0-255/0-16383 …");
  CHECK(label_of(long_ones, 1) == "Drawn, pairs 7");
  CHECK(label_of(long_ones, 2) == "Drawn, pairs 0-255/0-16383 … (2)");
}

TEST_CASE("session: the visible tokens are whole ones, and all where there are none") {
  CHECK(visible_tokens(2.4, 5.1, 10) == IndexRange{2, 6});
  CHECK(visible_tokens(3, 3.2, 10) == IndexRange{3, 4});
  CHECK(visible_tokens(-4, 25, 10) == IndexRange{0, 10});
  CHECK(visible_tokens(0, 0, 10) == IndexRange{0, 10});
  CHECK(visible_tokens(12, 14, 10) == IndexRange{0, 10});
}
