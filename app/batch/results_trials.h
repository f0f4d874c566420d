// Results of a sweep as Trials, which figures are drawn from.
#pragma once

#include <vector>

#include "batch/results_table.h"
#include "sweep/pareto.h"

namespace fovea {

/// A trial for each setting on each computed head, with medians over seeds. Rows that failed, and
/// rows of variants and parameters that this program does not know, are left out.
std::vector<Trial> trials_of(const ResultsTable& table);

}  // namespace fovea
