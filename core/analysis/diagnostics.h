// Diagnostics are the figures of a variant's own paper: alpha and kappa, chi, level spread.
#pragma once

#include <string>
#include <vector>

#include "backend/operator.h"

namespace fovea {

struct Diagnostic {
  std::string id;        // "chi", as in JSON
  std::string label;     // "Collision fraction χ"
  double value = 0;      // may be +inf: shown as "infinite"
  std::string meaning;   // for a tool tip
  bool sampled = false;  // from a sample of rows
};

/// Those that apply to the plan: leaf skew (chi, effective_leaves, gini, empty_leaves,
/// queries_without_keys, largest_leaf), hyper (alpha, kappa, stable_rank, block_mass,
/// row_sum_error, spectral_epsilon), h1d (block_spread per level), factorized (row sizes, reach).
std::vector<Diagnostic> diagnose(const Operator& approximate, const Output& approximate_output,
                                 const Operator& exact, const Output& exact_output, Run& run);

}  // namespace fovea
