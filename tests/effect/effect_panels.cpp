// The panels of effects against the numbers that they were made from.
#include "effect/effect_panels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace fovea;

namespace {

/// A model whose loss changes by what each replaced head is given, divided by the width.
class GivenChanges : public EffectMeter {
 public:
  explicit GivenChanges(std::vector<double> changes)
      : EffectMeter(3, 2), changes_(std::move(changes)) {}

  ModelEffect measure(std::span<const ReplacedPart> parts, Run&) override {
    const std::vector<ChosenHeads> chosen = heads_of(parts, layers(), heads());
    ModelEffect effect{.tokens = 10, .heads_of_model = layers() * heads()};
    effect.predicts = true;
    double change = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double width = std::stod(parts[i].settings.at("width"));
      for (Index layer = 0; layer < layers(); ++layer)
        for (Index head = 0; head < heads(); ++head)
          if (chosen[i].has(layer, head))
            change += changes_[std::size_t(layer * heads() + head)] / width;
      effect.parts.push_back({chosen[i].size(), {}, width / 100});
    }
    effect.kl_mean = 1;
    effect.exact_loss_per_token = 3;
    effect.loss_per_token = 3 + change;
    effect.drift.assign(std::size_t(layers()), Drift{});
    return effect;
  }
  void time(std::span<const ReplacedPart>, Run&, EffectTimes&) override {}

 private:
  std::vector<double> changes_;  // [layers * heads]
};

ReplacedPart window_as_wide_as(const char* width) {
  return {.variant = &find_variant("window"), .settings = {{"width", width}}};
}

}  // namespace

TEST_CASE("law: the grid of single effects has each change, in a range as wide to both sides") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> kinds[] = {{1, 2, 3, 4, 5, 6},       {-1, -2, -3, -4, -5, -6},
                                       {1, -2, 3, -40, 5, -6},   {-1, 2, -3, 40, -5, 6},
                                       {0, 0, 0, 0, 0, 0},       {0, 0, 0, 0, -0.5, 0},
                                       {none, -1, 2, none, 3, 0}};
  for (const std::vector<double>& changes : kinds)
    for (const UnitKind units : {UnitKind::head, UnitKind::layer})
      for (const char* heads : {"all", "0.1,2"}) {
        CAPTURE(changes);
        const std::string which =
            heads + std::string(units == UnitKind::head ? ", heads" : ", layers");
        CAPTURE(which);
        const ChosenHeads chosen(heads, 3, 2);
        GivenChanges model(changes);
        HeadEffects effects({window_as_wide_as("1"), window_as_wide_as("4")}, chosen, units);
        Profile profile;
        Run run{profile};
        while (!effects.complete()) effects.step(model, run);
        for (const std::size_t candidate : {0, 1}) {
          CAPTURE(candidate);
          const Panel panel = unit_effects_panel(effects, candidate);
          const auto& grid = std::get<Raster>(panel.body);
          double largest = 0;
          for (Index layer = 0; layer < 3; ++layer)
            for (Index head = 0; head < 2; ++head) {
              CAPTURE(layer);
              CAPTURE(head);
              const float shown = grid.values(head, layer);
              const auto unit = std::ranges::find_if(effects.found(), [&](const UnitEffect& one) {
                return one.variant == candidate && ChosenHeads(one.heads, 3, 2).has(layer, head);
              });
              CHECK((unit != effects.found().end()) == chosen.has(layer, head));
              if (unit == effects.found().end()) {
                CHECK(shown == -std::numeric_limits<float>::infinity());
              } else if (std::isnan(unit->change)) {
                CHECK(std::isnan(shown));
              } else {
                CHECK(shown == float(unit->change));
                largest = std::max(largest, std::abs(unit->change));
              }
            }
          CHECK(grid.high == (largest > 0 ? largest : 1));
          CHECK(grid.low == -grid.high);
        }
      }
}
