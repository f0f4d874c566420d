// Reach is how far information travels over a plan's pairs in two layers (factorized attention).
#pragma once

#include <cstdint>
#include <stop_token>

#include "plan/plan.h"

namespace fovea {

struct Reach {
  double share = 0;        // of the admissible pairs (i, j): some k with i -> k and k -> j
  Index sampled_rows = 0;  // 0: all rows were used
};

/// O(|S|^2) a row; beyond `max_rows` rows a uniform sample of them.
Reach two_hop_reach(const Plan& plan, std::stop_token stop = {}, Index max_rows = 256,
                    std::uint64_t seed = 0);

}  // namespace fovea
