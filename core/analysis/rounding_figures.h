// What rounding did to the queries, keys and values of a head.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// For each rounded tensor its relative error, the largest scale, and the shares of its numbers
/// that were clipped and that became 0; the channel of the keys with the largest error, and its
/// share. Empty if the plan rounds nothing.
std::vector<Diagnostic> rounding_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
