// The structure of a Plan as it is shown: which tiles it evaluates, which part of it covers a pair.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace fovea {

class Support;

/// How many pairs of each block of queries and keys the plan evaluates, or at coarse levels covers:
/// [ceil(rows / block.queries), ceil(cols / block.keys)], row-major. O(tokens + blocks that tiles
/// touch), tile by tile. Throws Cancelled soon after `stop` is requested.
std::vector<double> block_pairs(const Plan& plan, IndexRange rows, IndexRange cols, Lengths block,
                                const std::stop_token& stop = {});

/// Their share of the pairs of each block x block square: 0 is empty, 1 is full.
Matrix block_fill(const Plan& plan, IndexRange rows, IndexRange cols, Index block,
                  const std::stop_token& stop = {});

/// How a plan covers one pair, for the read-out at the pointer.
struct PairInfo {
  bool covered = false;
  bool admissible = false;  // by the conditions of the head
  int level = 0;
  float weight = 0;   // of the pair: 1, or n/m c_j for a sampled key
  std::string place;  // "block 3", "sampled twice", "leaf 12", "level 2"
  /// A block of keys that the query selected, and the selector's score of it.
  struct Scored {
    IndexRange keys;
    float score = 0;
  };
  std::optional<Scored> block = {};
};
PairInfo pair_info(const Plan& plan, Index i, Index j);
/// For many pairs: the support of the plan is made once.
PairInfo pair_info(const Support& support, Index i, Index j);

}  // namespace fovea
