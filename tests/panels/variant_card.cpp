#include "panels/variant_card.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

VariantCard card_of(const std::string& variant, const Problem& problem) {
  Profile profile;
  Run run{profile};
  return make_variant_card(find_variant(variant), problem, *backends().front(), run);
}

}  // namespace

TEST_CASE("every variant has a picture of the first tokens of a head") {
  for (const Index n : {1, 16, 341, 1000}) {
    for (const Variant& variant : variants()) {
      CAPTURE(variant.id);
      CAPTURE(n);
      const Problem problem = make_data(Data::gaussian, n, 8, 4, !variant.has_bidirectional_form());
      const VariantCard card = card_of(variant.id, problem);
      CHECK(card.refused.empty());
      REQUIRE(card.picture.rows() == std::min<Index>(n, 48));
      float least = 1, most = 0;
      for (Index r = 0; r < card.picture.rows(); ++r)
        for (Index c = 0; c < card.picture.cols(); ++c) {
          least = std::min(least, card.picture(r, c));
          most = std::max(most, card.picture(r, c));
        }
      CHECK(least >= 0);
      CHECK(most > 0);
    }
  }
}

TEST_CASE("a long head has the card of its first tokens") {
  const Problem problem = make_data(Data::gaussian, 1000, 8, 4, true);
  Problem first = problem;
  for (MatrixView Problem::*m : {&Problem::q, &Problem::k, &Problem::v})
    first.*m = (problem.*m).slice({0, VariantCard::most_tokens});
  const VariantCard whole = card_of("window", problem), part = card_of("window", first);
  for (Index r = 0; r < 48; ++r)
    CHECK(std::equal(whole.picture.row(r), whole.picture.row(r) + 48, part.picture.row(r)));
}

TEST_CASE("a variant without a causal form says so in its card") {
  const VariantCard card = card_of("linformer", make_data(Data::gaussian, 40, 4, 2, true));
  CHECK(card.picture.empty());
  CHECK(card.refused.find("no causal form") != std::string::npos);
}
