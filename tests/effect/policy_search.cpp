// The search for a policy, on a model whose loss is a known function of what is replaced.
#include "effect/policy_search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "effect/layer_curve.h"

using namespace fovea;

namespace {

/// Each head adds its weight times the variant's share to the loss, and each pair of replaced heads
/// adds a little more, so that single effects do not add up.
class KnownModel : public EffectMeter {
 public:
  KnownModel(Index layers, Index heads) : EffectMeter(layers, heads) {}

  ModelEffect measure(std::span<const ReplacedPart> parts, Run&) override {
    ++measured;
    const std::vector<ChosenHeads> chosen = heads_of(parts, layers(), heads());
    ModelEffect effect{.tokens = 100, .heads_of_model = layers() * heads()};
    double sum = 0;
    Index replaced = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double width = std::stod(parts[i].settings.at("width"));
      for (Index layer = 0; layer < layers(); ++layer)
        for (Index head = 0; head < heads(); ++head)
          if (chosen[i].has(layer, head)) sum += weight(layer, head) / width;
      replaced += chosen[i].size();
      effect.parts.push_back({chosen[i].size(), {}, width / 100});
    }
    effect.kl_mean = 10 + sum;
    for (Index layer = 0; layer < layers(); ++layer) {
      const auto at = static_cast<double>(layer);
      effect.drift.push_back({.relative = sum + at,
                              .cosine = sum + 100 + at,
                              .least_cosine = sum + 200 + at,
                              .rows_not_finite = 3 * layer});
    }
    effect.predicts = true;
    effect.exact_loss = effect.loss = {3};
    effect.exact_loss_per_token = 3;
    effect.loss_per_token = 3 + sum + together * static_cast<double>(replaced * (replaced - 1));
    return effect;
  }
  void time(std::span<const ReplacedPart>, Run&, EffectTimes&) override {}

  static double weight(Index layer, Index head) {
    return 0.001 * static_cast<double>(1 + (layer * 7 + head * 5) % 11);
  }

  double together = 1e-4;
  int measured = 0;
};

ReplacedPart window_of(const std::string& width) {
  return {.variant = &find_variant("window"),
          .settings = {{"width", width}},
          .seed = 0,
          .heads = "all"};
}

PolicySearch searched(KnownModel& model, PolicyBudget budget, UnitKind units,
                      const std::vector<std::string>& widths) {
  std::vector<ReplacedPart> candidates;
  for (const std::string& width : widths) candidates.push_back(window_of(width));
  const ChosenHeads all("all", model.layers(), model.heads());
  PolicySearch search(HeadEffects(candidates, all, units), budget);
  Profile profile;
  Run run{profile};
  while (!search.complete()) search.step(model, run);
  return search;
}

double change_of(KnownModel& model, const std::vector<ReplacedPart>& parts) {
  Profile profile;
  Run run{profile};
  return model.measure(parts, run).change();
}

}  // namespace

TEST_CASE("each unit is replaced alone by each candidate, the last layers first") {
  KnownModel model(3, 2);
  HeadEffects heads({window_of("1"), window_of("10")}, ChosenHeads("0,2.1", 3, 2), UnitKind::head);
  HeadEffects layers({window_of("4")}, ChosenHeads("0,2.1", 3, 2), UnitKind::layer);
  CHECK(heads.count() == 6);
  CHECK(layers.count() == 2);
  Profile profile;
  Run run{profile};
  while (!heads.complete()) heads.step(model, run);
  while (!layers.complete()) layers.step(model, run);
  heads.step(model, run);  // nothing is left
  REQUIRE(heads.found().size() == 6);
  const UnitEffect& first = heads.found()[1];
  CHECK(first.layer == 2);
  CHECK(first.head == 1);
  CHECK(first.variant == 1);
  CHECK(first.heads == "2.1");
  CHECK(first.change == doctest::Approx(KnownModel::weight(2, 1) / 10));
  CHECK(first.cost == 0.1);
  CHECK(layers.found()[0].heads == "2.1");
  CHECK_FALSE(layers.found()[1].head);
  CHECK(layers.found()[1].change ==
        doctest::Approx((KnownModel::weight(0, 0) + KnownModel::weight(0, 1)) / 4 + 2e-4));
}

TEST_CASE("law: what a replacement does alone is what a model with it alone does") {
  KnownModel model(3, 2);
  const std::vector<ReplacedPart> candidates{window_of("1"), window_of("10")};
  for (const UnitKind units : {UnitKind::head, UnitKind::layer}) {
    HeadEffects effects(candidates, ChosenHeads("all", 3, 2), units);
    Profile profile;
    Run run{profile};
    while (!effects.complete()) effects.step(model, run);
    CHECK(effects.found().size() == (units == UnitKind::head ? 12 : 6));
    for (const UnitEffect& found : effects.found()) {
      CAPTURE(found.heads);
      ReplacedPart part = candidates[found.variant];
      part.heads = found.heads;
      const ModelEffect alone = model.measure(std::vector{part}, run);
      CHECK(found.change == alone.change());
      CHECK(found.kl_mean == alone.kl_mean);
      CHECK(found.drift.relative == alone.drift.back().relative);
      CHECK(found.drift.cosine == alone.drift.back().cosine);
      CHECK(found.drift.least_cosine == alone.drift.back().least_cosine);
      CHECK(found.drift.rows_not_finite == alone.drift.back().rows_not_finite);
      CHECK(found.cost == alone.parts[0].cost);
      CHECK(found.size == alone.parts[0].heads);
      CHECK(ChosenHeads(found.heads, 3, 2).has(found.layer, found.head.value_or(0)));
    }
  }
}

TEST_CASE("a policy within a budget of loss is one whose own forward pass is within it") {
  for (const double budget : {0.002, 0.01, 0.02, 0.05}) {
    CAPTURE(budget);
    KnownModel model(6, 4);
    const PolicySearch search =
        searched(model, {.change = budget, .cost = {}}, UnitKind::head, {"5", "20"});
    const MeasuredPolicy* best = search.best();
    REQUIRE(best);
    CHECK(best->effect.change() <= budget);
    CHECK(change_of(model, best->parts) == best->effect.change());
    // Single effects do not say how many fit: their sum is smaller.
    double sum = 0;
    for (const ReplacedPart& part : best->parts)
      for (Index layer = 0; layer < 6; ++layer)
        for (Index head = 0; head < 4; ++head)
          if (ChosenHeads(part.heads, 6, 4).has(layer, head))
            sum += KnownModel::weight(layer, head) / std::stod(part.settings.at("width"));
    CHECK(sum < best->effect.change());
    // One more move in the order of change per cost saved does not fit.
    bool larger_failed = best->effect.attention_cost() < 0.06;
    for (const MeasuredPolicy& trial : search.trials())
      larger_failed |= trial.effect.change() > budget &&
                       trial.effect.attention_cost() < best->effect.attention_cost();
    CHECK(larger_failed);
  }
}

TEST_CASE("single effects that are there already are not measured again") {
  KnownModel model(3, 2);
  HeadEffects effects({window_of("5")}, ChosenHeads("all", 3, 2), UnitKind::head);
  Profile profile;
  Run run{profile};
  while (!effects.complete()) effects.step(model, run);
  const int measured = model.measured;
  PolicySearch search(effects, {.change = 0.01, .cost = {}});
  while (!search.complete()) search.step(model, run);
  REQUIRE(search.best());
  CHECK(model.measured == measured + int(search.trials().size()));
}

TEST_CASE("of the policies that were tried only the best keeps the rows of tokens") {
  KnownModel model(6, 4);
  const PolicySearch search =
      searched(model, {.change = 0.02, .cost = {}}, UnitKind::head, {"5", "20"});
  REQUIRE(search.best());
  REQUIRE(search.trials().size() > 2);
  for (const MeasuredPolicy& trial : search.trials()) {
    CHECK(trial.effect.loss.empty() == (&trial != search.best()));
    CHECK(std::isfinite(trial.effect.change()));
    CHECK(trial.effect.attention_cost() > 0);
    if (trial.effect.change() <= 0.02)
      CHECK(trial.effect.attention_cost() >= search.best()->effect.attention_cost());
  }
}

TEST_CASE("a head has the cheapest of the variants that it may have, in whatever order they come") {
  // A variant that costs twice as much and changes more is taken up after the better one.
  class Dearer : public KnownModel {
   public:
    using KnownModel::KnownModel;
    ModelEffect measure(std::span<const ReplacedPart> parts, Run& run) override {
      ModelEffect effect = KnownModel::measure(parts, run);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].seed == 0) continue;
        effect.parts[i].cost *= 2;
        *effect.loss_per_token += 1e-4 * static_cast<double>(effect.parts[i].heads);
      }
      return effect;
    }
  };
  for (const bool first : {true, false}) {
    Dearer model(3, 2);
    std::vector<ReplacedPart> candidates{window_of("10"), window_of("10")};
    candidates[first ? 0 : 1].seed = 1;
    PolicySearch search(HeadEffects(candidates, ChosenHeads("all", 3, 2), UnitKind::head),
                        {.change = 1.0, .cost = {}});
    Profile profile;
    Run run{profile};
    while (!search.complete()) search.step(model, run);
    REQUIRE(search.best());
    REQUIRE(search.best()->parts.size() == 1);
    CHECK(search.best()->parts[0].seed == 0);
    CHECK(search.best()->effect.attention_cost() == doctest::Approx(0.1));
  }
}

TEST_CASE("a larger budget gives no dearer policy") {
  double before = 1;
  for (const double budget : {0.001, 0.004, 0.016, 0.064, 1.0}) {
    KnownModel model(5, 3);
    const PolicySearch search =
        searched(model, {.change = budget, .cost = {}}, UnitKind::head, {"2", "10", "50"});
    REQUIRE(search.best());
    const double cost = search.best()->effect.attention_cost();
    CHECK(cost <= before);
    before = cost;
  }
  CHECK(before == doctest::Approx(0.02));  // everything is replaced by the cheapest
}

TEST_CASE("a policy within a budget of cost replaces what changes least until it is reached") {
  for (const double budget : {0.9, 0.5, 0.25}) {
    CAPTURE(budget);
    KnownModel model(6, 4);
    const PolicySearch search =
        searched(model, {.change = {}, .cost = budget}, UnitKind::head, {"10"});
    const MeasuredPolicy* best = search.best();
    REQUIRE(best);
    const double cost = best->effect.attention_cost();
    CHECK(cost <= budget);
    CHECK(cost > budget - 0.9 / 24);  // one head fewer would not have reached it
    CHECK(search.trials().size() == 1);
    CHECK(model.measured == 24 + 1);
  }
  KnownModel model(2, 2);
  CHECK_FALSE(searched(model, {.change = {}, .cost = 0.01}, UnitKind::head, {"10"}).best());
}

TEST_CASE("a model that no replacement fits keeps exact attention") {
  KnownModel model(2, 2);
  const PolicySearch none = searched(model, {.change = 1e-9, .cost = {}}, UnitKind::head, {"5"});
  CHECK_FALSE(none.best());
  CHECK(none.complete());
  CHECK_FALSE(none.trials().empty());
  KnownModel other(2, 2);  // what saves nothing is no move
  CHECK_FALSE(searched(other, {.change = 1.0, .cost = {}}, UnitKind::head, {"100"}).best());
}

TEST_CASE("a cancelled measurement is made again") {
  class Cancels : public KnownModel {
   public:
    using KnownModel::KnownModel;
    ModelEffect measure(std::span<const ReplacedPart> parts, Run& run) override {
      if (++calls % 2 == 1) throw Cancelled();
      return KnownModel::measure(parts, run);
    }
    int calls = 0;
  };
  KnownModel plain(3, 2);
  Cancels cancels(3, 2);
  const auto expected = searched(plain, {.change = 0.01, .cost = {}}, UnitKind::head, {"5"});
  PolicySearch search(HeadEffects({window_of("5")}, ChosenHeads("all", 3, 2), UnitKind::head),
                      {.change = 0.01, .cost = {}});
  Profile profile;
  Run run{profile};
  while (!search.complete()) {
    try {
      search.step(cancels, run);
    } catch (const Cancelled&) {
    }
  }
  REQUIRE(search.best());
  REQUIRE(expected.best());
  CHECK(search.best()->parts == expected.best()->parts);
  CHECK(search.trials().size() == expected.trials().size());
}

TEST_CASE("a curve replaces the last layers, up to all of them") {
  KnownModel model(30, 2);
  LayerCurve curve(window_of("5"), 30);
  Profile profile;
  Run run{profile};
  while (!curve.complete()) curve.step(model, run);
  REQUIRE(curve.found().size() == 7);
  CHECK(curve.found().front().replaced == 5);
  CHECK(curve.found().back().replaced == 30);
  CHECK(curve.found().back().effect.attention_cost() == doctest::Approx(0.05));
  CHECK(LayerCurve(window_of("5"), 3).count() == 3);
  CHECK(LayerCurve(window_of("5"), 1).count() == 1);
}
