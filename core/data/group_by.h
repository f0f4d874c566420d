// group_by sorts numbered members by their groups: a counting sort, in O(members + groups).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct Grouped {
  std::vector<std::int32_t> order;  // the members, group by group, ascending in each
  std::vector<Index> begin;         // [groups + 1] where each group begins in `order`, and the end

  /// The positions of a group in `order`.
  IndexRange positions(Index group) const {
    return {begin[group], begin[static_cast<std::size_t>(group) + 1]};
  }
};

/// [groups + 1]: where each group begins if members are sorted by group, and the end. `group` has
/// that of each member.
std::vector<Index> group_begins(std::span<const std::int32_t> group, Index groups);

/// Each member's group is below `groups`.
Grouped group_by(std::span<const std::int32_t> group, Index groups);

/// Where in `order` each of `count` numbers stands; -1 if it is not there.
std::vector<std::int32_t> inverse_of(std::span<const std::int32_t> order, Index count);

}  // namespace fovea
