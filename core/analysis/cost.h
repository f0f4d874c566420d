// The Cost of a Plan: multiply-adds and bytes, counted from its actual structure.
#pragma once

#include <stop_token>

#include "plan/plan.h"

namespace fovea {

struct Cost {
  double multiply_adds = 0;  // pairs (d + dv), coarsening, hashing, routing, node sums
  double bytes = 0;          // in memory, without Q, K, V and Z
  double exact_multiply_adds =
      0;             // all pairs that the head admits, times d + dv; or its recurrence
  double pairs = 0;  // evaluated pairs of (coarse) query and (coarse) key
  double ratio_to_exact() const { return multiply_adds / exact_multiply_adds; }
};

/// Takes long if a pass leaves out pairs. Throws Cancelled soon after `stop` is requested.
Cost count_cost(const Plan& plan, Index d, Index dv, const std::stop_token& stop = {});

/// Multiply-adds of n steps of a recurrence.
double multiply_adds_of(const Recurrence& recurrence, Index n, Index d, Index dv);

/// Pairs of a tile that lie in its band, that its pass does not leave out and that the mask, if
/// any, admits: O(tile rows) or better for ordered positions; O(pairs) if the pass leaves out
/// pairs, or under a mask with columns in another order.
double count_pairs(const Pass& pass, const Tile& tile, const PairMask* mask = nullptr);

}  // namespace fovea
