// Thumbnails of heads: their numbers against entries of P, and heads with conditions that the
// selected variant has no form with.
#include "panels/head_card.h"

#include <doctest/doctest.h>

#include <cmath>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("a head card has a picture where the column's variant has no form for the head") {
  Source source;
  source.layers.push_back({.name = "layer0",
                           .q = make_head_tensor({gaussian(20, 4, 1)}),
                           .k = make_head_tensor({gaussian(20, 4, 2)}),
                           .v = make_head_tensor({gaussian(20, 4, 3)})});
  source.layers[0].conditions.window = 5;
  Profile profile;
  Run run{profile};
  const auto error = [&](const char* id) {
    const Variant& variant = find_variant(id);
    return head_error(source, {}, {.variant = id, .values = values_for_length(variant, 20)},
                      *backends().front(), run);
  };
  CHECK(error("fixed").has_value());
  CHECK_FALSE(error("h1d").has_value());
  CHECK_FALSE(error("exact").has_value());
  const HeadCard made = make_head_card(source, {}, *backends().front(), run);
  REQUIRE(made.picture.rows() > 0);
  CHECK(made.picture(0, 0) > 0.0f);
}

TEST_CASE("the numbers of a head card are those of P, also with unequal lengths") {
  for (const Lengths lengths : {Lengths{20, 20}, {20, 33}, {33, 20}}) {
    const Index queries = lengths.queries, keys = lengths.keys;
    CAPTURE(queries);
    CAPTURE(keys);
    Source source;
    source.layers.push_back({.name = "layer0",
                             .q = make_head_tensor({gaussian(queries, 4, 1)}),
                             .k = make_head_tensor({gaussian(keys, 4, 2)}),
                             .v = make_head_tensor({gaussian(keys, 4, 3)})});
    Profile profile;
    Run run{profile};
    const HeadCard card = make_head_card(source, {}, *backends().front(), run);
    const Instance exact =
        make_instance(*backends().front(), problem_of(source, {}, {}), "exact", {});
    const Matrix p = exact.all();
    double entropy = 0, dense = 0, future = 0;
    for (Index i = 0; i < queries; ++i)
      for (Index j = 0; j < keys; ++j) {
        const double x = p(i, j);
        entropy -= x * std::log(x) / queries / std::log(keys);
        dense += (x > 1.0 / keys) / double(queries) / keys;
        // Queries are the last tokens of their keys: the last query is the last key's.
        future += j - (keys - 1) > i - (queries - 1) ? x / queries : 0;
      }
    // Sums of up to 660 numbers, added up in double.
    CHECK(card.entropy == doctest::Approx(entropy).epsilon(1e-6));
    CHECK(card.density == doctest::Approx(dense).epsilon(1e-6));
    CHECK(card.future_mass == doctest::Approx(future).epsilon(1e-6));
    CHECK(future > 0);
  }
}
