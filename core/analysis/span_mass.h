// Span mass is the attention that the queries of one group of tokens pay, on average, to the keys
// of another: to their own part of a prompt, to the system prompt, to sinks.
#pragma once

#include <vector>

#include "analysis/metrics.h"
#include "analysis/row_bands.h"
#include "data/grouping.h"

namespace fovea {

/// The mean over queries i in a group of the sum over keys j in a group of P_ij.
struct SpanMass {
  struct Cell {
    Estimate exact, approximate;
  };
  Index query_groups = 0, key_groups = 0;
  std::vector<Cell> cells;  // [query_groups, key_groups], row-major
  std::vector<Index> rows;  // [query_groups]: the queries of each that were used
  bool sampled = false;     // some queries were not used

  const Cell& operator()(Index queries, Index keys) const {
    return cells[queries * key_groups + keys];
  }
};

/// The cells of a row sum to 1 if the rows of P do. If P has more than `max_entries` entries, a
/// uniform sample of the queries of each group is drawn from `seed`: equally many of each group, at
/// least 16, up to the group's size. Holds [query_groups, key_groups] numbers and a band of rows of
/// P, never all of P. Throws InputError if the groups do not cover all queries and all keys, and
/// Cancelled.
SpanMass span_mass(const Operator& approximate, const Operator& exact, const Grouping& queries,
                   const Grouping& keys, Run& run, double max_entries = most_read_entries,
                   std::uint64_t seed = 0);

}  // namespace fovea
