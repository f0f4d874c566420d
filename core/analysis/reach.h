// Reach is how far information travels over a plan's pairs in two layers (factorized attention).
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "analysis/estimate.h"
#include "analysis/support.h"

namespace fovea {

/// Paths of two hops, when both layers attend the pairs of one plan: query i attends key k in the
/// second layer, and k attended j in the first. With M_ij = [j in S_i] there are (M M)_ij of them,
/// one for each key k between (Child et al. 2019, section 4.2, ask for at least one from every
/// query to every earlier position). For self-attention only: as many queries as keys.
class TwoHops {
 public:
  /// The plan must outlive it. O(tiles + positions).
  explicit TwoHops(const Plan& plan) : support_(plan) {}

  /// Row `query` of M M: [n], each in [0, |S_i|]. O(|S_i| tiles of a query + passes n), where keys
  /// that a banded tile holds out of order are told apart one by one. Several threads may ask.
  std::vector<std::int32_t> paths_from(Index query) const;
  /// How many of `keys` the query may attend and reaches by a path; `paths` is its row. If a mask
  /// is not transitive (a window, single pairs), paths also lead to keys that the query may not
  /// attend.
  Index reached(Index query, const std::vector<std::int32_t>& paths, IndexRange keys) const;
  /// Whether every query attends every key that it may, so that one hop reaches all that two do.
  /// Throws Cancelled soon after `stop` is requested.
  bool one_is_enough(const std::stop_token& stop = {}) const;
  const Support& support() const { return support_; }

 private:
  std::vector<std::int32_t> paths_under_mask(Index query) const;

  Support support_;
};

struct Reach {
  Estimate share;          // of the admissible pairs (i, j): some k with i -> k and k -> j
  Index sampled_rows = 0;  // 0: all rows were used
};

/// If there are more than `max_rows` rows, a uniform sample of them is used. Throws Cancelled soon
/// after `stop` is requested.
Reach two_hop_reach(const Plan& plan, std::stop_token stop = {}, Index max_rows = 256,
                    std::uint64_t seed = 0);

}  // namespace fovea
