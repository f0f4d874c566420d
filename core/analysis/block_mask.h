// The structure of a Plan as it is shown: which tiles it evaluates, which part of it covers a pair.
#pragma once

#include <stop_token>
#include <string>

#include "plan/plan.h"

namespace fovea {

class Support;

/// Share of the pairs of each block x block square that the plan evaluates, or at coarse levels
/// covers: 0 is empty, 1 is full. [ceil(rows/block), ceil(cols/block)]. O(tokens + blocks that
/// tiles touch), tile by tile. Throws Cancelled soon after `stop` is requested.
Matrix block_fill(const Plan& plan, IndexRange rows, IndexRange cols, Index block,
                  const std::stop_token& stop = {});

/// How a plan covers one pair, for the read-out at the pointer.
struct PairInfo {
  bool covered = false;
  int level = 0;
  float weight = 0;   // of the pair: 1, or n/m c_j for a sampled key
  std::string place;  // "block 3", "sampled twice", "leaf 12", "level 2"
};
PairInfo pair_info(const Plan& plan, Index i, Index j);
/// For many pairs: the support of the plan is made once.
PairInfo pair_info(const Support& support, Index i, Index j);

}  // namespace fovea
