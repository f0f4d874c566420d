// The effect of a variant on a model that Fovea computes, from its address on.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/error.h"
#include "effect/window_effects.h"
#include "messages.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the effect on a model that reads a text is measured in the heads that are named") {
  const TinyTextModel model;
  const OpenOptions options;
  const auto meter = effect_meter(model.address("The CAT sats café."), options);
  CHECK(meter->layers() == 2);
  CHECK(meter->heads() == 2);
  const ModelEffect all = measured(*meter, {windows("0")});
  CHECK(all.model == "tiny: “The CAT sats café.”");
  CHECK(all.tokens == 8);
  CHECK(all.labels.size() == 8);
  CHECK(all.labels[1] == "The");
  CHECK(all.parts.at(0).heads == 4);
  CHECK(all.heads_of_model == 4);
  CHECK_FALSE(all.perplexity);  // an encoder predicts no next token
  REQUIRE(all.drift.size() == 2);
  CHECK(all.drift[0].relative > 0);
  const ModelEffect last = measured(*meter, {windows("0", "1.1")});
  CHECK(last.parts.at(0).heads == 1);
  CHECK(last.drift[0].relative == 0);
  CHECK(last.drift[1].relative > 0);
  CHECK(last.drift[1].relative != all.drift[1].relative);
  // The same again: what exact attention gave is kept, and nothing else.
  CHECK(measured(*meter, {windows("0")}).drift[1].relative == all.drift[1].relative);

  // Each head has its own token alone: 8 of 64 pairs.
  CHECK(all.parts[0].cost == doctest::Approx(8.0 / 64));
  CHECK(all.attention_cost() == all.parts[0].cost);
  CHECK(last.attention_cost() == doctest::Approx(0.75 + 0.25 * 8 / 64));
  CHECK(all.change() == all.drift.back().relative);

  for (const Drift& drift : measured(*meter, {windows("8")}).drift)
    CHECK(drift.relative < 1e-6);  // the rounding of float32
}

TEST_CASE("what cannot be measured is said") {
  const TinyTextModel model;
  const OpenOptions options;
  const auto meter = effect_meter(model.address("cat"), options);
  const auto refusal = [&](const std::vector<ReplacedPart>& parts) {
    return message_of<UsageError>([&] { measured(*meter, parts); });
  };
  check_says(refusal({windows("4", "2")}), {"'2'", "the layers 0 to 1"});
  check_says(refusal({windows("4", "1"), windows("2", "0.0,1.1")}),
             {"1 of window", "0.0,1.1 of window", "overlap"});
  ReplacedPart unknown = windows("4");
  unknown.settings = {{"height", "4"}};
  check_says(refusal({unknown}), {"height", "width"});
  check_says(message_of<UsageError>([&] { effect_meter("model:" + model.folder(), options); }),
             {"--text TEXT or --input FILE"});
}

TEST_CASE("several parts are measured together, each in its own heads") {
  const TinyTextModel model;
  const OpenOptions options;
  const auto meter = effect_meter(model.address("The CAT sats café."), options);
  const ModelEffect both = measured(*meter, {windows("0", "0.0"), windows("1", "0.1,1")});
  REQUIRE(both.parts.size() == 2);
  CHECK(both.parts[0].heads == 1);
  CHECK(both.parts[1].heads == 3);
  CHECK(both.parts[0].cost == doctest::Approx(8.0 / 64));
  CHECK(both.parts[1].cost == doctest::Approx((3.0 * 8 - 2) / 64));
  CHECK(both.attention_cost() ==
        doctest::Approx((both.parts[0].cost + 3 * both.parts[1].cost) / 4));
  const ModelEffect one = measured(*meter, {windows("0", "0.0")});
  CHECK(one.drift[0].relative > 0);
  CHECK(one.drift[0].relative != both.drift[0].relative);
  CHECK(measured(*meter, {}).drift[1].relative == 0);
}
