#include "effect/effect_figure.h"

#include <algorithm>

#include "data/number_text.h"
#include "effect/effect_panels.h"

namespace fovea {

Figure effect_figure(const EffectInFigure& shown) {
  constexpr double panel_width = 2.6 * points_per_inch;
  constexpr std::size_t most_across = 3;
  const ModelEffect& effect = shown.effect;
  std::vector<Panel> curves{drift_panel(effect)}, grids;
  if (shown.curve && !shown.curve->empty())
    curves.push_back(layer_curve_panel(*shown.curve, shown.curve_title));
  if (shown.search) curves.push_back(trials_panel(*shown.search));
  grids.push_back(parts_panel(shown.parts, shown.layers, shown.heads));
  const HeadEffects* alone = shown.search && !shown.alone ? &shown.search->effects() : shown.alone;
  for (std::size_t i = 0; alone && i < alone->candidates().size(); ++i)
    grids.push_back(unit_effects_panel(*alone, i));
  Figure figure;
  const std::size_t columns = std::min(most_across, std::max(curves.size(), grids.size()));
  figure.rows.push_back(std::move(curves));
  for (std::size_t i = 0; i < grids.size(); ++i) {
    if (i % columns == 0) figure.rows.emplace_back();
    figure.rows.back().push_back(std::move(grids[i]));
  }
  figure.style.width = panel_width * static_cast<double>(columns);
  figure.footer = effect.model + "; " + plural(effect.tokens, "token");
  if (!effect.inputs.empty())
    figure.footer += ", means over " + plural(change_over_inputs(effect).inputs, "input");
  return figure;
}

}  // namespace fovea
