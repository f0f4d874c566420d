// What is said of an ExplorationRun: how far it is, what it tried and what it left out.
#pragma once

#include <QString>

#include "study/exploration_run.h"

namespace fovea {

/// How far the run is, or of which heads it was. `is_current`: of the opened source.
QString state_text(const ExplorationRun& run, bool is_current);
/// "816 of 1776 trials": those in plot and table.
QString extent_text(const ExplorationRun& run);
/// The source, the heads and the device.
QString provenance_text(const ExplorationRun& run, bool names_source);
/// What does not apply to the heads, was left out or is not compared yet. Empty if there is
/// nothing.
QString left_out_text(const ExplorationRun& run, const std::vector<SettingSpread>& settings);
/// A line for each variant that was refused, and each reason.
QString why_refused_text(const ExplorationRun& run);

}  // namespace fovea
