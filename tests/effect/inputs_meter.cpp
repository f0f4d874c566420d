// Effects over a folder of texts: means, intervals, and inputs that fail.
#include "effect/inputs_meter.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "data/error.h"
#include "effect/effect_json.h"
#include "effect/window_effects.h"
#include "messages.h"
#include "session/session.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<std::string> texts{"the cat sat a b c", "a a b b the cat . sat the cat",
                                     "cat sat the the sat"};

struct Folder {
  TinyTextModel model;
  TemporaryDirectory inputs;

  Folder() {
    for (std::size_t i = 0; i < texts.size(); ++i)
      inputs.write(std::to_string(i) + ".txt", texts[i]);
  }
  std::string address() const {
    return to_text(ModelAddress{.folder = model.folder(), .text = {}, .input = inputs.path()});
  }
};

}  // namespace

TEST_CASE("over a folder each number is the mean of its inputs, with its interval") {
  const Folder folder;
  const OpenOptions options;
  const auto meter = effect_meter(folder.address(), options);
  CHECK(meter->inputs() == 3);
  const ModelEffect all = measured(*meter, {windows("1")});
  REQUIRE(all.inputs.size() == 3);
  double change = 0, cosine = 0, squares = 0, cost = 0, drift = 0;
  Index tokens = 0;
  std::vector<ModelEffect> each;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto alone = effect_meter(folder.model.address(texts[i]), options);
    const ModelEffect& one = each.emplace_back(measured(*alone, {windows("1")}));
    REQUIRE(all.inputs[i].effect);
    CHECK(all.inputs[i].input.ends_with(std::to_string(i) + ".txt"));
    CHECK(all.inputs[i].effect->change() == one.change());
    CHECK(all.inputs[i].effect->token_drift.empty());
    tokens += one.tokens;
    change += one.change() / 3;
    cosine += *one.pooled_cosine / 3;
    cost += one.attention_cost() / 3;
    drift += one.drift[0].relative / 3;
  }
  for (const ModelEffect& one : each) squares += std::pow(one.change() - change, 2);
  CHECK(all.tokens == tokens);
  CHECK(all.change() == doctest::Approx(change).epsilon(1e-12));
  CHECK(*all.pooled_cosine == doctest::Approx(cosine).epsilon(1e-12));
  CHECK(all.attention_cost() == doctest::Approx(cost).epsilon(1e-12));
  CHECK(all.drift[0].relative == doctest::Approx(drift).epsilon(1e-12));
  const MeanOverInputs mean = change_over_inputs(all);
  REQUIRE(mean.half);
  CHECK(*mean.half == doctest::Approx(4.302652729911275 * std::sqrt(squares / 2 / 3)));
  const Document json = effect_json(all, std::array{windows("1")}, "");
  CHECK(json["change_inputs"] == 3);
  CHECK(double(json["change_interval"][0]) == doctest::Approx(mean.low()));
  CHECK(double(json["change_interval"][1]) == doctest::Approx(mean.high()));
  CHECK(json["drift"][0]["relative_inputs"] == 3);
  CHECK(json["inputs"][2]["change"] == each[2].change());
  CHECK(json["perplexity"].is_null());
  CHECK(json["loss"].is_null());
}

TEST_CASE("law: over inputs every number is a mean or a sum of all of them") {
  constexpr int count = 3;
  // No two numbers are alike; one layer after another.
  double next = 1;
  std::vector<InputEffect> inputs;
  for (int i = 0; i < count; ++i) {
    ModelEffect one{.tokens = 10 + i, .heads_of_model = 4};
    for (int part = 0; part < 2; ++part)
      one.parts.push_back({.heads = 2,
                           .values = values_for_length(find_variant("window"), 16),
                           .cost = next++,
                           .multiply_adds = next++,
                           .exact_multiply_adds = next++});
    for (const EffectNumber& number : effect_numbers()) one.*number.of = next++;
    for (int layer = 0; layer < 2; ++layer)
      one.drift.push_back({.relative = next++,
                           .cosine = next++,
                           .least_cosine = next++,
                           .rows_not_finite = 1 + i + 10 * layer});
    inputs.push_back({std::to_string(i), "", std::make_shared<const ModelEffect>(one)});
  }
  const std::vector<ReplacedPart> parts{windows("1", "0"), windows("2", "1")};
  const ModelEffect all = effect_over(parts, inputs);
  const auto mean = [&](const auto& of) {
    double sum = 0;
    for (const InputEffect& input : inputs) sum += double(of(*input.effect));
    return doctest::Approx(sum / count).epsilon(1e-12);
  };
  CHECK(all.tokens == 10 + 11 + 12);
  CHECK(all.heads_of_model == 4);
  for (const EffectNumber& number : effect_numbers()) {
    CAPTURE(number.id);
    CHECK(*(all.*number.of) == mean([&](const ModelEffect& one) { return *(one.*number.of); }));
  }
  REQUIRE(all.parts.size() == 2);
  for (std::size_t part = 0; part < 2; ++part)
    for (const auto member :
         {&MeasuredPart::cost, &MeasuredPart::multiply_adds, &MeasuredPart::exact_multiply_adds})
      CHECK(all.parts[part].*member ==
            mean([&](const ModelEffect& one) { return one.parts[part].*member; }));
  REQUIRE(all.drift.size() == 2);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (const auto member : {&Drift::relative, &Drift::cosine, &Drift::least_cosine})
      CHECK(all.drift[layer].*member ==
            mean([&](const ModelEffect& one) { return one.drift[layer].*member; }));
    CHECK(all.drift[layer].rows_not_finite == 1 + 2 + 3 + 30 * Index(layer));
  }
}

TEST_CASE("an input that fails is named, and left out of the means") {
  const Folder folder;
  folder.inputs.write("1.txt", "\xff\xfe broken");
  folder.inputs.write("notes.npy", "x");
  const OpenOptions options;
  const auto meter = effect_meter(folder.address(), options);
  const ModelEffect all = measured(*meter, {windows("1")});
  REQUIRE(all.inputs.size() == 3);
  CHECK_FALSE(all.inputs[1].effect);
  check_says(all.inputs[1].failure, {"1.txt"});
  CHECK(change_over_inputs(all).inputs == 2);
  std::string notes;
  for (const std::string& note : all.notes) notes += note + "\n";
  check_says(notes, {"1.txt is left out", "1 other file"});
  const Document json = effect_json(all, std::array{windows("1")}, "");
  CHECK(json["inputs"][1]["failed"] == all.inputs[1].failure);
  CHECK(json["change_inputs"] == 2);
  // Passes are timed on the inputs that are left, one after the other.
  EffectTimes times;
  Profile profile;
  Run run{profile};
  for (int round = 0; round < 3; ++round) meter->time(std::array{windows("1")}, run, times);
  CHECK(times.rounds() == 3);
  CHECK(times.attention.exact_ms.size() == 3);
}

TEST_CASE("the models of sixteen inputs stay open, those of others are read again") {
  const TinyTextModel model;
  const TemporaryDirectory inputs;
  const auto name = [](int i) { return std::to_string(10 + i) + ".txt"; };
  constexpr int count = 18, kept = 16;
  for (int i = 0; i < count; ++i) inputs.write(name(i), "the cat sat a b c");
  const OpenOptions options;
  const auto meter = effect_meter(
      to_text(ModelAddress{.folder = model.folder(), .text = {}, .input = inputs.path()}), options);
  measured(*meter, {windows("1")});
  for (int i = 0; i < count; ++i) inputs.write(name(i), "the cat sat");
  const ModelEffect again = measured(*meter, {windows("1")});
  REQUIRE(again.inputs.size() == count);
  for (int i = 0; i < count; ++i) {
    CAPTURE(i);
    CHECK((again.inputs[std::size_t(i)].effect->tokens < again.inputs[0].effect->tokens) ==
          (i >= kept));
  }
}

TEST_CASE("a folder that cannot be measured says why") {
  const Folder folder;
  const OpenOptions options;
  const auto meter = effect_meter(folder.address(), options);
  check_says(message_of<UsageError>([&] { measured(*meter, {windows("1", "9")}); }),
             {"'9'", "the layers 0 to 1"});
  for (int i = 0; i < 3; ++i) folder.inputs.write(std::to_string(i) + ".txt", "\xff\xfe");
  check_says(message_of<InputError>([&] { effect_meter(folder.address(), options); }), {"0.txt"});
  const TemporaryDirectory empty;
  check_says(message_of<InputError>([&] {
               effect_meter(
                   to_text(ModelAddress{
                       .folder = folder.model.folder(), .text = {}, .input = empty.path()}),
                   options);
             }),
             {"holds no text and no image"});
}

TEST_CASE("a number that is not finite in one input makes the change not finite") {
  ModelEffect one;
  one.parts = {{.heads = 1, .values = {}, .cost = 0.5}};
  one.heads_of_model = 1;
  one.drift = {{.relative = 0.25, .cosine = 1, .least_cosine = 1}};
  ModelEffect other = one;
  other.drift[0].relative = INFINITY;
  other.drift[0].rows_not_finite = 2;
  ModelEffect all;
  for (const ModelEffect& each : {one, other})
    all.inputs.push_back({"x", "", std::make_shared<const ModelEffect>(each)});
  CHECK(all.change() == INFINITY);
  CHECK(change_over_inputs(all).mean == 0.25);
  CHECK(change_over_inputs(all).inputs == 1);
}

TEST_CASE("parameters that suit the length of each input are not written as those of all") {
  const Folder folder;
  folder.inputs.write("1.txt", [] {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "the cat ";
    return text;
  }());
  const OpenOptions options;
  const auto meter = effect_meter(folder.address(), options);
  const ReplacedPart part{.variant = &find_variant("h1d"), .settings = {}, .seed = 0};
  const ModelEffect all = measured(*meter, {part});
  const Document json = effect_json(all, std::array{part}, "");
  for (const std::string& id : all.parts[0].differing)
    CHECK_FALSE(json["parts"][0]["parameters"].contains(id));
  CHECK(json["parts"][0]["parameters"].size() + all.parts[0].differing.size() ==
        part.variant->schema.size());
}
