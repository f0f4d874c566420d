#include "effect/effect_panels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/number_text.h"

namespace fovea {
namespace {

std::string label_of_changes(const ModelEffect& effect) {
  return effect.predicts ? "loss per token, beyond exact" : "relative change";
}

/// Heads run down and layers to the right, as in the curves over layers. All cells are empty.
Raster grid_of(Index layers, Index heads) {
  Raster grid;
  grid.values = Matrix(heads, layers);
  for (Index head = 0; head < heads; ++head)
    for (Index layer = 0; layer < layers; ++layer)
      grid.values(head, layer) = -std::numeric_limits<float>::infinity();
  grid.rows = {0, heads};
  grid.cols = {0, layers};
  grid.rows_name = "head";
  grid.cols_name = "layer";
  return grid;
}

std::string words_of(const ReplacedPart& part) {
  std::string settings;
  for (const auto& [key, value] : part.settings)
    if (!value.empty()) settings += (settings.empty() ? " (" : ", ") + key + " " + value;
  return part.variant->label + settings + (settings.empty() ? "" : ")");
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
  CurvePlot plot{.x_label = "replaced layers, from the last on", .y_label = label_of_changes(any)};
  CurvePlot::Curve& curve = plot.curves.emplace_back();
  curve.points.emplace_back(0, 0);
  for (const LayerPoint& point : points)
    curve.points.emplace_back(static_cast<double>(point.replaced), point.effect.change());
  return {.title = variant, .body = std::move(plot)};
}

Panel unit_effects_panel(const HeadEffects& effects, std::size_t candidate) {
  Raster grid = grid_of(effects.layers(), effects.heads());
  grid.palette = Palette::diverging;
  bool predicts = false;
  double largest = 0;
  for (const UnitEffect& unit : effects.found()) {
    if (unit.variant != candidate) continue;
    const ChosenHeads chosen(unit.heads, effects.layers(), effects.heads());
    for (Index head = 0; head < effects.heads(); ++head)
      if (chosen.has(unit.layer, head))
        grid.values(head, unit.layer) = static_cast<float>(unit.change);
    predicts = predicts || unit.kl_mean.has_value();
    if (std::isfinite(unit.change)) largest = std::max(largest, std::abs(unit.change));
  }
  grid.high = largest > 0 ? largest : 1;
  grid.low = -grid.high;
  grid.quantity = predicts ? "change of the loss per token" : "relative change of the last states";
  const bool layers = !effects.found().empty() && !effects.found().front().head;
  return {.title = words_of(effects.candidates()[candidate]) +
                   (layers ? ", each layer alone" : ", each head alone"),
          .body = std::move(grid)};
}

Panel parts_panel(std::span<const ReplacedPart> parts, Index layers, Index heads) {
  Raster grid = grid_of(layers, heads);
  grid.palette = Palette::categories;
  grid.categories = {"exact attention"};
  for (const ReplacedPart& part : parts) grid.categories.push_back(words_of(part));
  const std::vector<ChosenHeads> chosen = heads_of(parts, layers, heads);
  for (Index head = 0; head < heads; ++head)
    for (Index layer = 0; layer < layers; ++layer) {
      const auto its = std::ranges::find_if(
          chosen, [&](const ChosenHeads& some) { return some.has(layer, head); });
      const auto place = its == chosen.end() ? 0 : 1 + (its - chosen.begin());
      grid.values(head, layer) = static_cast<float>(place);
    }
  grid.high = parts.size();
  return {.title = "Attention of each head", .body = std::move(grid)};
}

Panel trials_panel(const PolicySearch& search) {
  const std::vector<MeasuredPolicy>& trials = search.trials();
  if (trials.empty()) return {.title = "Policies", .body = Message{"no policy is measured yet"}};
  const ModelEffect& any = trials.front().effect;
  CurvePlot plot{.x_label = "cost of attention, as a share of exact",
                 .y_label = label_of_changes(any)};
  CurvePlot::Curve& curve = plot.curves.emplace_back();
  for (const MeasuredPolicy& trial : trials)
    curve.points.emplace_back(trial.effect.attention_cost(), trial.effect.change());
  curve.points.emplace_back(1, 0);
  std::ranges::sort(curve.points);
  curve.apart = true;  // no policy lies between two others
  if (const auto budget = search.budget().change) plot.levels = {{*budget, "budget"}};
  return {.title = "Measured policies", .body = std::move(plot)};
}

}  // namespace fovea
