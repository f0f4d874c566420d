#include "data/group_by.h"

#include <numeric>

namespace fovea {

std::vector<Index> group_begins(std::span<const std::int32_t> group, Index groups) {
  std::vector<Index> begin(static_cast<std::size_t>(groups) + 1, 0);
  for (const std::int32_t g : group) ++begin[static_cast<std::size_t>(g) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  return begin;
}

Grouped group_by(std::span<const std::int32_t> group, Index groups) {
  Grouped out{std::vector<std::int32_t>(group.size()), group_begins(group, groups)};
  std::vector<Index> next = out.begin;
  for (std::size_t i = 0; i < group.size(); ++i)
    out.order[next[group[i]]++] = static_cast<std::int32_t>(i);
  return out;
}

std::vector<std::int32_t> inverse_of(std::span<const std::int32_t> order, Index count) {
  std::vector<std::int32_t> position(count, -1);
  for (std::size_t p = 0; p < order.size(); ++p) position[order[p]] = static_cast<std::int32_t>(p);
  return position;
}

}  // namespace fovea
