// Level mass is how much attention falls on the pairs of each level of a cluster hierarchy, and how
// much of it an approximation by cluster means gives them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/metrics.h"
#include "analysis/row_bands.h"

namespace fovea {

/// With l(i, j) the level whose pass owns the pair (H-Transformer-1D, Eq. 21-23 and appendix A.5):
/// the mean over rows i of the sum of P_ij over the keys j with l(i, j) = level, in [0, 1].
struct LevelMass {
  int level = 0;
  Estimate exact, approximate;
  bool sampled = false;  // not all rows were used
};

/// One for each key level of the approximation, ascending; empty if its plan has level 0 alone or
/// is no TilePlan. The exact masses sum to 1, and so do the approximate ones. If P has more than
/// `max_entries` entries, a uniform sample of rows is drawn from `seed`; otherwise the standard
/// errors are 0. Holds a band of rows of both matrices, never n x n numbers. Throws Cancelled.
std::vector<LevelMass> level_mass(const Operator& approximate, const Operator& exact, Run& run,
                                  double max_entries = most_read_entries, std::uint64_t seed = 0);

/// The level mass as figures, two for each level: "level_mass_exact_1", "level_mass_approximate_1".
std::vector<Diagnostic> level_mass_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
