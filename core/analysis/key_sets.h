// The figures of attention over sets of keys (factorized attention): sizes of the sets, and how far
// information travels over them.
#pragma once

#include "analysis/diagnostics.h"

namespace fovea {

/// Mean and largest |S_i|, and the two-hop reach; empty if every query attends every key.
std::vector<Diagnostic> key_set_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
