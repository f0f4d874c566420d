// The line masses of a head: what its last queries have in each column and each diagonal of P. They
// say which lines to keep (MInference, algorithm 2).
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "data/problem.h"

namespace fovea {

/// Sums of exact weights over the last queries.
struct LineMasses {
  std::vector<double> of_keys;       // [n]
  std::vector<double> of_distances;  // [n] |i - j|
  double pairs = 0;                  // that these queries may attend
};

/// Throws UnavailableError if the rows do not fit into memory, Cancelled.
LineMasses line_masses(const Problem& problem, Index last_queries, const Backend& backend,
                       Run& run);

/// All lines: the first `forced` in sequence, then those of the largest mass, the lower line first
/// among equal ones.
std::vector<std::int32_t> lines_by_mass(const std::vector<double>& mass, Index forced);

}  // namespace fovea
