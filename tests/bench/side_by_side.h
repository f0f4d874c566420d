// Heads side by side: several heads as one sequence whose P is block-diagonal, so that one launch
// takes all of them.
#pragma once

#include <vector>

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea::bench {

/// Heads of one shape, scale and mask, one below the other.
Problem side_by_side(const std::vector<Problem>& heads);

/// The plan of that, from the plans of the heads, all of one variant and one setting. Heads are a
/// power of two long (a cluster of tokens belongs to one head). Throws Error where the plans differ
/// in form.
Plan side_by_side(const std::vector<Plan>& heads);

}  // namespace fovea::bench
