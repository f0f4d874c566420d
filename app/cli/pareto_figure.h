// A Pareto figure is settings of variants over two axes, for paper: what `fovea pareto` and `fovea
// sweep` draw.
#pragma once

#include <string>
#include <vector>

#include "figure/figure.h"
#include "sweep/pareto.h"

namespace fovea {

/// A measure of which more or less is better, by its id. Throws UsageError that begins with
/// `option`.
Quantity measured_axis(const std::string& id, const std::string& option);
/// The same, or a parameter of all of `variants`.
Quantity cost_axis(const std::string& id, const std::vector<const Variant*>& variants,
                   const std::string& option);

/// Settings over the heads of the trials; over a parameter without exact attention, which has none.
std::vector<SettingSpread> drawable_settings(const std::vector<Trial>& trials, const Quantity& x,
                                             const Quantity& y);

Figure pareto_figure(const std::vector<SettingSpread>& settings, const Quantity& x,
                     const Quantity& y, const std::string& footer);

}  // namespace fovea
