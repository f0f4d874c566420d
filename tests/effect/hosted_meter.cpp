// Effects on a model that another process computes, with a stand-in that says what it was asked
// for.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "effect/model_effect.h"
#include "effect/window_effects.h"
#include "io/json.h"
#include "model_elsewhere.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::unique_ptr<EffectMeter> meter_of(const ModelElsewhere& model, const std::string& text,
                                      Index most_tokens) {
  return effect_meter(
      to_text(ModelAddress{.folder = model.folder(), .text = text, .most_tokens = most_tokens}),
      {});
}

}  // namespace

TEST_CASE("law: whatever is chosen reaches the process that computes a model") {
  const ModelElsewhere model;
  const std::string text = "one two three four five";
  std::vector<ReplacedPart> parts{windows("7", "1,0.1"), windows("9", "2.0")};
  parts[0].seed = 3;
  parts[1].seed = 40;
  for (const Index most : {Index{1}, Index{3}, ModelAddress{}.most_tokens}) {
    CAPTURE(most);
    const auto meter = meter_of(model, text, most);
    CHECK(meter->layers() == 3);
    CHECK(meter->heads() == 2);
    const Index tokens = std::min<Index>(5, most);
    Profile profile;
    Run run{profile};
    for (const bool rows : {true, false}) {
      CAPTURE(rows);
      const ModelEffect effect =
          rows ? meter->measure(parts, run) : meter->measure_numbers(parts, run);
      CHECK(effect.tokens == tokens);
      REQUIRE(effect.notes.size() == 1);
      const Json asked = Json::parse(effect.notes[0]);
      CHECK(asked["text"] == text);
      CHECK(asked["max_tokens"] == most);
      CHECK(asked["rows"] == rows);
      CHECK(asked["parts"] == Json::parse(R"([
        {"variant": "window", "seed": 3, "parameters": {"width": "7"}, "where": [[0, [1]], [1, null]]},
        {"variant": "window", "seed": 40, "parameters": {"width": "9"}, "where": [[2, [0]]]}])"));
    }
    EffectTimes times;
    meter->time(parts, run, times);
    CHECK(times.model.exact_ms == std::vector<double>{1000.0 * double(tokens)});
    CHECK(times.model.replaced_ms == std::vector<double>{43000});
    CHECK(times.variant_ms == std::vector<double>{500});
  }
}
