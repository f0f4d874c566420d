#include "effect/effect_panels.h"

#include <algorithm>
#include <cmath>

#include "data/number_text.h"

namespace fovea {
namespace {

std::string label_of_changes(const ModelEffect& effect) {
  return effect.predicts() ? "loss per token, beyond exact" : "relative change";
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
  CurvePlot plot{.x_label = "layer", .y_label = "change"};
  CurvePlot::Curve& curve = plot.curves.emplace_back();
  for (const UnitEffect& unit : effects.found())
    if (unit.variant == candidate)
      curve.points.emplace_back(static_cast<double>(unit.layer), unit.change);
  std::ranges::sort(curve.points);
  curve.apart = true;  // heads of a layer stand above each other
  return {.title = effects.candidates()[candidate].variant->label + ", each alone",
          .body = std::move(plot)};
}

Panel parts_panel(std::span<const ReplacedPart> parts) {
  FigureTable table;
  for (const ReplacedPart& part : parts) {
    std::string settings;
    for (const auto& [key, value] : part.settings) settings += " " + key + " " + value;
    table.rows.emplace_back(part.variant->label + settings, part.heads);
  }
  table.rows.emplace_back("exact attention", "the other heads");
  return {.title = "Policy", .body = std::move(table)};
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
  return {.title = "Measured policies", .body = std::move(plot)};
}

}  // namespace fovea
