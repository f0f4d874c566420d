#include "cli/reports/pareto_figure.h"

#include <algorithm>

#include "data/error.h"
#include "panels/pareto_panel.h"

namespace fovea {
namespace {

constexpr double pareto_width = 5;  // inches

/// Whether a variant has a parameter of this name, and no measure has it.
bool names_parameter(const std::string& id) {
  if (std::ranges::find(measures(), id, &Measure::id) != measures().end()) return false;
  return std::ranges::any_of(variants(), [&](const Variant& variant) {
    return std::ranges::find(variant.schema, id, &Field::id) != variant.schema.end();
  });
}

}  // namespace

Quantity measured_axis(const std::string& id, const std::string& option) {
  Quantity quantity(id, option);
  if (quantity.measure().better == Measure::Better::neither)
    throw UsageError(option + " " + id + ": neither more nor less of it is better");
  return quantity;
}

Quantity cost_axis(const std::string& id, const std::vector<const Variant*>& variants,
                   const std::string& option) {
  return names_parameter(id) ? Quantity(id, variants, option) : measured_axis(id, option);
}

std::vector<SettingSpread> drawable_settings(const std::vector<Trial>& trials, const Quantity& x,
                                             const Quantity& y) {
  std::vector<SettingSpread> settings = settings_over_heads(trials, x, y);
  if (x.is_parameter())
    std::erase_if(settings, [](const SettingSpread& s) { return s.variant->reference; });
  return settings;
}

Figure pareto_figure(const std::vector<SettingSpread>& settings, const Quantity& x,
                     const Quantity& y, const std::string& footer, std::optional<double> at_most) {
  Figure figure;
  figure.style.width = pareto_width * points_per_inch;
  figure.footer = footer;
  figure.rows = {{make_panel(ParetoPanel{.settings = settings,
                                         .x = x,
                                         .y = y,
                                         .message = "no setting has both numbers",
                                         .at_most = at_most})}};
  return figure;
}

}  // namespace fovea
