// Heads side by side: several heads as one sequence whose P is block-diagonal, so that all of them
// are in one launch.
#pragma once

#include <vector>

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea::bench {

/// Heads of one shape, scale and mask, one after the other.
Problem side_by_side(const std::vector<Problem>& heads);

/// Their plan, from the plans of the heads, all of one variant and one setting. The length of a
/// head is a power of two, so that a cluster of tokens belongs to one head. Throws Error where the
/// plans have different forms.
Plan side_by_side(const std::vector<Plan>& heads);

}  // namespace fovea::bench
