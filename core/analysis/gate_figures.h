// The figures of a recurrence: how long its state lasts, what it erases, how its levels share.
#pragma once

#include "analysis/diagnostics.h"

namespace fovea {

/// The half-life, the share that the delta rule erases, and with level weights the share of |P| on
/// each Fenwick level, from a sample of rows of long heads. Empty if the plan is no recurrence.
/// Throws Cancelled.
std::vector<Diagnostic> gate_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
