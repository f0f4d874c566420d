// Run figures say whether another program gives the same result each time it runs on one input.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// Figures of an ImportedPlan whose file holds the outputs of several runs; none otherwise: the
/// runs, the rows that are not bit by bit the same in all of them, those of these rows that differ
/// from the first run by more than twice the rounding budget, the largest relative difference of a
/// run from the first, |Z_r - Z_1| / |Z_1| (Frobenius), and a sentence. Numbers are compared in
/// fp32: what differs in fewer bits of fp64 counts as the same. Throws what HeadTensor::read does.
std::vector<Diagnostic> run_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
