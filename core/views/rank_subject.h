// The matrices of a head whose ranks are mapped: P, A = exp(S), the logits S, or the error P~ - P.
#pragma once

#include "analysis/rank_map.h"
#include "evaluate/computation.h"

namespace fovea {

/// Rectangles of the matrix. `subject`, `exact` and `run` must outlive it. A and S are those of the
/// head itself: a causal mask is 0 in A; S is shown without it.
Entries entries_of(const Computation& subject, const Computation& exact, RankSubject what,
                   Run& run);

}  // namespace fovea
