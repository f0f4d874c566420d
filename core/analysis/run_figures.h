// Run figures say whether another program gives the same result each time it runs on one input.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// Figures of an ImportedPlan whose file holds the outputs of several runs; none otherwise:
/// - the number of runs;
/// - rows that are not the same in all runs, bit by bit. Numbers of fp64 are compared in fp32;
/// - rows in which a run is farther from the first one than twice the rounding budget of the
///   coarsest type among the runs;
/// - the largest relative difference of a run from the first, |Z_r - Z_1| / |Z_1| (Frobenius);
/// - a sentence.
/// Throws what HeadTensor::read does.
std::vector<Diagnostic> run_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
