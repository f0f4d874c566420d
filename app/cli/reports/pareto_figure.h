// A Pareto figure shows settings of variants over two axes on paper. `fovea pareto` and `fovea
// sweep` draw it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "sweep/pareto.h"

namespace fovea {

/// A measure of which more or less is better, by its id. Throws UsageError that begins with
/// `option`.
Quantity measured_axis(const std::string& id, const std::string& option);
/// A measure, or a parameter of all `variants`.
Quantity cost_axis(const std::string& id, const std::vector<const Variant*>& variants,
                   const std::string& option);

/// Settings over the heads of the trials. If x is a parameter, exact attention is left out, as it
/// has none.
std::vector<SettingSpread> drawable_settings(const std::vector<Trial>& trials, const Quantity& x,
                                             const Quantity& y);

/// `at_most` is a budget of x.
Figure pareto_figure(const std::vector<SettingSpread>& settings, const Quantity& x,
                     const Quantity& y, const std::string& footer,
                     std::optional<double> at_most = {});

}  // namespace fovea
