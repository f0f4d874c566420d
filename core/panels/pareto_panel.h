// The panel of settings that were tried: error against cost, with the Pareto front.
#pragma once

#include "panels/panel.h"
#include "sweep/pareto.h"
#include "views/views.h"

namespace fovea {

struct ParetoPanel {
  const std::vector<SettingSpread>& settings;
  const Quantity &x, &y;                   // y is no parameter
  std::string message = {};                // why there are no points
  std::optional<std::size_t> chosen = {};  // this setting has a ring
  std::optional<double> at_most = {};      // a budget of x: points beyond it are pale
  /// The parts of the axes that are shown; unless given, those that hold all but a few points far
  /// from the others.
  std::optional<SeriesPlot::Ends> x_ends = {}, y_ends = {};
};

/// The settings that are points of the panel, by their places: a list for each series, in the order
/// of its points. If `x` is a parameter, a series has the settings of one variant that differ in
/// nothing else, in the order of the parameter; otherwise it has all settings of one variant, as
/// they come.
std::vector<std::vector<std::size_t>> drawn_settings(const std::vector<SettingSpread>& settings,
                                                     const Quantity& x);

/// A point for each setting, in a series for each variant, exact first. Points on the front are
/// filled, others are hollow; a bar is the interval of y. The user's own settings are framed. The
/// caption tells what is not shown. If `x` is a parameter, a curve joins the points of a series,
/// all of which are filled.
Panel make_panel(const ParetoPanel& in);

}  // namespace fovea
