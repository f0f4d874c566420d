// Weights of attention that become 0 when they are rounded.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// The share of the weights above 0 that become 0 when they are rounded, and the mass that they had
/// before. Empty if the plan does not round weights.
std::vector<Diagnostic> zeroed_weight_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
