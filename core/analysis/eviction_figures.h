// What a cache of keys that evicts some of them costs: the mass that is evicted and later wanted.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// Over the rows of exact attention, of which long heads are sampled: the mass that it gives to
/// keys that were evicted before; the share of queries whose heaviest key was evicted before, and
/// the first such query. Empty if the plan evicts no key. Throws Cancelled.
std::vector<Diagnostic> eviction_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
