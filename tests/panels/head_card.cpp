// Thumbnails of heads with conditions that the selected variant has no form with.
#include "panels/head_card.h"

#include <doctest/doctest.h>

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
  const auto card = [&](const char* id) {
    const Variant& variant = find_variant(id);
    return make_head_card(source, {}, {.variant = id, .values = values_for_length(variant, 20)},
                          *backends().front(), run);
  };
  CHECK(card("fixed").error.has_value());
  CHECK_FALSE(card("h1d").error.has_value());
  for (const char* id : {"fixed", "h1d"}) {
    const HeadCard made = card(id);
    REQUIRE(made.picture.rows() > 0);
    CHECK(made.picture(0, 0) > 0.0f);
  }
}
