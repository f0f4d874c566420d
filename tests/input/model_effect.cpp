// The effect of a variant on a model that Fovea computes, from its address on.
#include "input/model_effect.h"

#include <doctest/doctest.h>

#include <string>

#include "data/error.h"
#include "messages.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

EffectRequest windows(const std::string& width) {
  return {.variant = &find_variant("window"), .settings = {{"width", width}}};
}

}  // namespace

TEST_CASE("the effect on a model that reads a text is measured in the heads that are named") {
  const TinyTextModel model;
  const OpenOptions options;
  const EffectRequest request = windows("0");
  const auto meter = effect_meter(model.address("The CAT sats café."), request, options);
  CHECK(meter->layers() == 2);
  CHECK(meter->heads() == 2);
  const ModelEffect all = meter->measure("all");
  CHECK(all.model == "tiny: “The CAT sats café.”");
  CHECK(all.tokens == 8);
  CHECK(all.labels.size() == 8);
  CHECK(all.labels[1] == "The");
  CHECK(all.heads == 4);
  CHECK(all.heads_of_model == 4);
  CHECK_FALSE(all.perplexity);  // an encoder predicts no next token
  REQUIRE(all.drift.size() == 2);
  CHECK(all.drift[0].relative > 0);
  const ModelEffect last = meter->measure("1.1");
  CHECK(last.heads == 1);
  CHECK(last.drift[0].relative == 0);
  CHECK(last.drift[1].relative > 0);
  CHECK(last.drift[1].relative != all.drift[1].relative);
  // The same again: what exact attention gave is kept, and nothing else.
  CHECK(meter->measure("all").drift[1].relative == all.drift[1].relative);

  const EffectRequest whole = windows("8");
  for (const Drift& drift :
       effect_meter(model.address("The CAT sats café."), whole, options)->measure("all").drift)
    CHECK(drift.relative < 1e-6);  // the rounding of float32
}

TEST_CASE("what cannot be measured is said") {
  const TinyTextModel model;
  const OpenOptions options;
  const EffectRequest request = windows("4");
  const auto meter = effect_meter(model.address("cat"), request, options);
  check_says(message_of<UsageError>([&] { meter->measure("2"); }), {"'2'", "the layers 0 to 1"});
  const EffectRequest unknown{.variant = &find_variant("window"), .settings = {{"height", "4"}}};
  check_says(message_of<UsageError>([&] { effect_meter(model.address("cat"), unknown, options); }),
             {"height", "width"});
  check_says(
      message_of<UsageError>([&] { effect_meter("model:" + model.folder(), request, options); }),
      {"--text TEXT or --input FILE"});
}
