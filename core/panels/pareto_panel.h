// The panel of settings that were tried: error against cost, with the Pareto front.
#pragma once

#include "panels/panel.h"
#include "sweep/pareto.h"

namespace fovea {

struct ParetoPanel {
  const std::vector<SettingSpread>& settings;
  const Quantity &x, &y;                   // y is no parameter
  std::string message = {};                // why there are no points
  std::optional<std::size_t> chosen = {};  // this setting has a ring
};

/// The settings that are points of the panel, by their places: a list for each series, in the order
/// of its points. Over a parameter `x` a series has the settings of one variant that differ in
/// nothing else, in its order; else those of one variant, as they come.
std::vector<std::vector<std::size_t>> drawn_settings(const std::vector<SettingSpread>& settings,
                                                     const Quantity& x);

/// A point for each setting, of each variant a series, exact first: on the front filled and, where
/// there are several heads, with a bar from p10 to p90 of y; others hollow. Those of the user's own
/// have a frame. The caption tells what is not shown. Over a parameter the points of a series are
/// joined to a curve, all filled and with their bars.
Panel make_panel(const ParetoPanel& in);

}  // namespace fovea
