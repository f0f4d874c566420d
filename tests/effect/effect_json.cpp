// Policy files: what is written is read again, and what is no policy is refused.
#include "effect/effect_json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "messages.h"
#include "session/session.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::string written(const TemporaryDirectory& folder, const std::string& text) {
  const std::string path = folder.path() + "/policy.json";
  std::ofstream(path) << text;
  return path;
}

MeasuredPolicy example() {
  const Variant &window = find_variant("window"), &hyper = find_variant("hyper");
  MeasuredPolicy policy;
  policy.parts = {{&window, {{"width", "16"}}, 0, "25-29,3.1"}, {&hyper, {}, 7, "0-2"}};
  policy.effect.model = "tiny: “a”";
  policy.effect.heads_of_model = 270;
  policy.effect.predicts = true;
  policy.effect.exact_loss = policy.effect.loss = {3.125};
  policy.effect.exact_loss_per_token = 3.125;
  policy.effect.loss_per_token = 3.25;
  for (const ReplacedPart& part : policy.parts)
    policy.effect.parts.push_back(
        {9, values_for_length(*part.variant, 512, part.settings), 0.25, 1, 4});
  return policy;
}

}  // namespace

TEST_CASE("a policy that is written is read again") {
  const TemporaryDirectory folder;
  const MeasuredPolicy policy = example();
  const Document json = policy_json(policy, 30, 9, {.change = 0.2, .cost = {}}, "model:tiny");
  const std::string path = written(folder, text_of(json, 1));
  const std::vector<ReplacedPart> found = read_policy(path, 30, 9);
  REQUIRE(found.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(found[i].variant == policy.parts[i].variant);
    CHECK(found[i].seed == policy.parts[i].seed);
    CHECK(found[i].heads == policy.parts[i].heads);
    // All parameters are written, so that another length of text has the same ones.
    CHECK(values_for_length(*found[i].variant, 4096, found[i].settings) ==
          policy.effect.parts[i].values);
  }
  CHECK(json["change"] == 0.125);
  CHECK(json["change_of"] == "loss per token");
  CHECK(json["budget"]["change"] == 0.2);
  CHECK(json["budget"]["cost"].is_null());
  CHECK(json["perplexity"].is_null());
  check_says(message_of<InputError>([&] { read_policy(path, 12, 9); }),
             {"policy.json", "\"layers\" is 30", "12 layers of 9 heads"});
}

TEST_CASE("what is no policy is refused with what was found and expected") {
  const TemporaryDirectory folder;
  const auto refusal = [&](const std::string& text) {
    return message_of<InputError>([&] { read_policy(written(folder, text), 4, 2); });
  };
  const auto with_part = [&](const std::string& part) {
    return refusal(R"({"policy": 1, "layers": 4, "heads": 2, "parts": [)" + part + "]}");
  };
  check_says(refusal("[]"), {"policy.json", "is no policy", "\"policy\": 1"});
  check_says(refusal(R"({"policy": 2})"), {"is no policy"});
  check_says(refusal(R"({"policy": 1, "layers": 0})"), {"\"layers\" is 0", "4 layers of 2 heads"});
  check_says(refusal(R"({"policy": 1, "layers": 99999999999, "heads": 1})"),
             {"\"layers\" is 99999999999"});
  check_says(refusal(R"({"policy": 1, "layers": 4, "heads": "2"})"), {"\"heads\" is", "\"2\""});
  check_says(refusal(R"({"policy": 1, "layers": 4, "heads": 2})"), {"\"parts\" is", "a list"});
  check_says(refusal(R"({"policy": 1, "layers": 4, "heads": 2, "parts": []})"), {"at least one"});
  check_says(with_part(R"({"variant": "none", "where": "1"})"), {"policy.json", "none"});
  check_says(with_part("7"), {"\"variant\" of the part 7", "a text"});
  check_says(with_part(R"({"variant": "window"})"), {"\"where\" of the part"});
  check_says(with_part(R"({"variant": "window", "where": "4"})"), {"policy.json", "0 to 3"});
  check_says(with_part(R"({"variant": "window", "where": "1", "seed": -1})"), {"\"seed\""});
  check_says(with_part(R"({"variant": "window", "where": "1", "parameters": {"wide": 2}})"),
             {"policy.json", "wide"});
  check_says(with_part(R"({"variant": "imported", "where": "1"})"), {"imported", "computed"});
  check_says(
      with_part(R"({"variant": "window", "where": "1"}, {"variant": "exact", "where": "*.0"})"),
      {"overlap"});
}

TEST_CASE("times are medians of rounds, with the ratio of passes that take turns") {
  MeasuredPolicy policy = example();
  CHECK(effect_json(policy.effect, policy.parts, "")["time"]["rounds"] == 0);
  CHECK(effect_json(policy.effect, policy.parts, "")["time"]["model_speed_up"].is_null());
  EffectTimes& times = policy.effect.times;
  for (int round = 0; round < 6; ++round) {
    times.model.exact_ms.push_back(12 + round);
    times.model.replaced_ms.push_back((12 + round) / (round < 3 ? 2.0 : 3.0));
    times.variant_ms.push_back(1);
  }
  const Document json = effect_json(policy.effect, policy.parts, "")["time"];
  CHECK(json["rounds"] == 6);
  CHECK(json["exact_model_ms"] == 14.5);
  CHECK(json["model_speed_up"] == 2.5);
  // The smallest and the largest of six ratios bound the median with 95 %.
  CHECK(double(json["model_speed_up_interval"][0]) == doctest::Approx(2));
  CHECK(double(json["model_speed_up_interval"][1]) == doctest::Approx(3));
  CHECK(json["attention_ms"].is_null());
  CHECK(json["variant_ms"] == 1);
  CHECK(Rounds{.least = 7, .most = 7}.wants_more(times));
  CHECK_FALSE(Rounds{.least = 6, .most = 6}.wants_more(times));
  CHECK(basis_text(times.model.speed_up()) == "median of the ratios of 6 rounds");
  CHECK(Rounds{.least = 1, .most = 7, .enough_ms = 1e4}.wants_more(times));
  CHECK_FALSE(Rounds{.least = 1, .most = 7, .enough_ms = 10}.wants_more(times));
  CHECK_FALSE(Rounds{.least = 0, .most = 0}.wants_more({}));
  times.model = {.exact_ms = {15}, .replaced_ms = {12}};
  // An interval needs six rounds.
  CHECK(Rounds{.enough_ms = 10, .most_ms = 30}.wants_more(times));
  CHECK_FALSE(Rounds{.enough_ms = 10, .most_ms = 20}.wants_more(times));
}

TEST_CASE("numbers that a model does not have are null") {
  const MeasuredPolicy policy = example();
  const Document json = effect_json(policy.effect, policy.parts, "model:tiny");
  CHECK(json["kl_mean"].is_null());
  CHECK(json["drift"].is_null());
  CHECK(json["likeliest"].is_null());
  CHECK(json["parts"][1]["variant"] == "hyper");
  CHECK(json["parts"][0]["parameters"]["width"] == 16);
  CHECK(json["attention_cost"] == doctest::Approx(1 - 18 * 0.75 / 270));
}

TEST_CASE("law: the document of an effect has each of its numbers and rows under its own name") {
  MeasuredPolicy policy = example();
  ModelEffect& effect = policy.effect;
  effect.model = "a model", effect.computed_by = "a program";
  effect.tokens = 41, effect.heads_of_model = 42;
  double next = 1;
  for (const EffectNumber& number : effect_numbers()) effect.*number.of = next++;
  effect.exact_loss = {51, 52}, effect.loss = {53, 54}, effect.kl = {55, 56};
  effect.token_drift = {57, 58};
  effect.labels = {"a", "b"}, effect.notes = {"a note"};
  effect.drift = {{.relative = 61, .cosine = 62, .least_cosine = 63, .rows_not_finite = 64}};
  const Document json = effect_json(effect, policy.parts, "a source");
  CHECK(json["model"] == "a model");
  CHECK(json["source"] == "a source");
  CHECK(json["computed_by"] == "a program");
  CHECK(json["tokens"] == 41);
  CHECK(json["heads_of_model"] == 42);
  for (const EffectNumber& number : effect_numbers()) {
    CAPTURE(number.id);
    CHECK(json[number.id] == *(effect.*number.of));
  }
  CHECK(json["exact_loss"] == Document{51.0, 52.0});
  CHECK(json["loss"] == Document{53.0, 54.0});
  CHECK(json["kl"] == Document{55.0, 56.0});
  CHECK(json["token_drift"] == Document{57.0, 58.0});
  CHECK(json["labels"] == Document{"a", "b"});
  CHECK(json["notes"] == Document{"a note"});
  const Document& drift = json["drift"][0];
  CHECK(drift["relative"] == 61.0);
  CHECK(drift["cosine"] == 62.0);
  CHECK(drift["least_cosine"] == 63.0);
  CHECK(drift["rows_not_finite"] == 64);
}

TEST_CASE("the likeliest tokens of the replaced and of the exact model have names of their own") {
  MeasuredPolicy policy = example();
  policy.effect.likeliest = {{{"cat", 0.75}, {"sat", 0.25}}};
  policy.effect.exact_likeliest = {{{"mat", 0.5}}};
  const Document json = effect_json(policy.effect, policy.parts, "");
  CHECK(json["likeliest"] == Document::parse(R"([[{"token":"cat","chance":0.75},
                                                 {"token":"sat","chance":0.25}]])"));
  CHECK(json["exact_likeliest"] == Document::parse(R"([[{"token":"mat","chance":0.5}]])"));
}
