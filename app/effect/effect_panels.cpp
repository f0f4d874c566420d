#include "effect/effect_panels.h"

#include <algorithm>
#include <cmath>

#include "data/number_text.h"

namespace fovea {
namespace {

/// What a curve shows of an effect: the loss itself, so that all values are positive.
double height_of(const ModelEffect& effect) {
  return effect.loss_per_token.value_or(effect.change());
}

std::string label_of_heights(const ModelEffect& effect) {
  return effect.loss_per_token ? "loss per token" : "relative change";
}

std::vector<CurvePlot::Level> exact_level(const ModelEffect& effect) {
  if (!effect.exact_loss_per_token) return {};
  return {{*effect.exact_loss_per_token, "exact"}};
}

}  // namespace

Panel drift_panel(const ModelEffect& effect) {
  CurvePlot plot{.x_label = "layer", .y_label = "relative"};
  CurvePlot::Curve& curve = plot.curves.emplace_back();
  for (std::size_t layer = 0; layer < effect.drift.size(); ++layer)
    curve.points.emplace_back(static_cast<double>(layer), effect.drift[layer].relative);
  return {.title = "|H′ − H| / |H| after each layer", .body = std::move(plot)};
}

Panel layer_curve_panel(const std::vector<LayerPoint>& points, const std::string& variant) {
  if (points.empty()) return {.title = variant, .body = Message{"nothing is measured yet"}};
  const ModelEffect& any = points.front().effect;
  CurvePlot plot{.levels = exact_level(any),
                 .x_label = "replaced layers, from the last on",
                 .y_label = label_of_heights(any)};
  CurvePlot::Curve& curve = plot.curves.emplace_back();
  curve.points.emplace_back(0, any.exact_loss_per_token.value_or(0));
  for (const LayerPoint& point : points)
    curve.points.emplace_back(static_cast<double>(point.replaced), height_of(point.effect));
  return {.title = variant, .body = std::move(plot)};
}

Panel unit_effects_panel(const HeadEffects& effects, std::size_t candidate) {
  Raster raster{.rows = {0, effects.layers()},
                .cols = {0, effects.heads()},
                .palette = Palette::diverging,
                .quantity = "change"};
  raster.values = Matrix(effects.layers(), effects.heads());
  for (Index layer = 0; layer < effects.layers(); ++layer)
    std::fill_n(raster.values.row(layer), effects.heads(), NAN);
  double most = 0;
  for (const UnitEffect& unit : effects.found()) {
    if (unit.variant != candidate) continue;
    const ChosenHeads heads(unit.heads, effects.layers(), effects.heads());
    for (Index head = 0; head < effects.heads(); ++head)
      if (heads.has(unit.layer, head))
        raster.values(unit.layer, head) = static_cast<float>(unit.change);
    if (std::isfinite(unit.change)) most = std::max(most, std::abs(unit.change));
  }
  raster.low = -most;
  raster.high = most;
  const std::string& label = effects.candidates()[candidate].variant->label;
  return {.title = label + ", each alone", .body = std::move(raster)};
}

Panel parts_panel(std::span<const ReplacedPart> parts, Index layers, Index heads) {
  Raster raster{.rows = {0, layers},
                .cols = {0, heads},
                .palette = Palette::categories,
                .categories = {"exact"}};
  raster.values = Matrix(layers, heads);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ChosenHeads chosen(parts[i].heads, layers, heads);
    std::string settings;
    for (const auto& [key, value] : parts[i].settings)
      settings += (settings.empty() ? " " : ", ") + key + " " + value;
    raster.categories.push_back(parts[i].variant->label + settings);
    for (Index layer = 0; layer < layers; ++layer)
      for (Index head = 0; head < heads; ++head)
        if (chosen.has(layer, head)) raster.values(layer, head) = static_cast<float>(i + 1);
  }
  raster.high = static_cast<double>(parts.size());
  return {.title = "Policy", .body = std::move(raster)};
}

Panel trials_panel(const PolicySearch& search) {
  const std::vector<MeasuredPolicy>& trials = search.trials();
  if (trials.empty()) return {.title = "Policies", .body = Message{"no policy is measured yet"}};
  const ModelEffect& any = trials.front().effect;
  CurvePlot plot{.levels = exact_level(any),
                 .x_label = "cost of attention, as a share of exact",
                 .y_label = label_of_heights(any)};
  CurvePlot::Curve& curve = plot.curves.emplace_back();
  for (const MeasuredPolicy& trial : trials)
    curve.points.emplace_back(trial.effect.attention_cost(), height_of(trial.effect));
  curve.points.emplace_back(1, any.exact_loss_per_token.value_or(0));
  std::ranges::sort(curve.points);
  curve.apart = true;  // no policy lies between two others
  return {.title = "Measured policies", .body = std::move(plot)};
}

}  // namespace fovea
