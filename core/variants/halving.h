// A Halving is the causal recursion of HyperAttention (algorithm 4) laid out by depth.
#pragma once

#include <vector>

#include "data/matrix.h"

namespace fovea {

/// Queries against keys without a mask: the whole head, or the second half of a causal segment
/// against its first half. Both ranges are of tokens, and of positions in an order of all tokens.
struct SubProblem {
  IndexRange queries, keys;
};

/// A segment longer than min_length is cut at begin + size / 2 (rounded down: the second half is
/// the longer one); its halves are cut in turn.
struct Halving {
  std::vector<std::vector<SubProblem>> depths;  // from the whole head down, each left to right
  std::vector<IndexRange> leaves;               // segments computed exactly, ascending

  Halving(Index n, Index min_length);
};

}  // namespace fovea
