#include "backend/key_slots.h"

#include <algorithm>

namespace fovea {
namespace {

// Keys of every node, by depth.
std::vector<std::vector<std::int32_t>> count_keys(const NodePlan& nodes) {
  std::vector<std::vector<std::int32_t>> count{{0}};
  for (const int branching : nodes.branching)
    count.emplace_back(count.back().size() * static_cast<std::size_t>(branching));
  for (const std::int32_t leaf : nodes.key_leaf) ++count.back()[static_cast<std::size_t>(leaf)];
  for (std::size_t depth = count.size() - 1; depth > 0; --depth)
    for (std::size_t node = 0; node < count[depth].size(); ++node)
      count[depth - 1][node / static_cast<std::size_t>(nodes.branching[depth - 1])] +=
          count[depth][node];
  return count;
}

}  // namespace

KeySlots::KeySlots(const NodePlan& nodes)
    : depths_(static_cast<Index>(nodes.branching.size()) + 1), deepest_(1, 0) {
  const auto keys = count_keys(nodes);
  Index all = 0;
  for (const auto& level : keys)
    all += static_cast<Index>(level.size()) - std::ranges::count(level, 0);
  path_.assign(static_cast<std::size_t>((all + 1) * depths_), static_cast<std::int32_t>(all));
  for (std::size_t depth = 0; depth < keys.size(); ++depth) {
    const auto children = static_cast<std::size_t>(depth == 0 ? 1 : nodes.branching[depth - 1]);
    std::vector<std::int32_t> here(keys[depth].size());
    for (std::size_t node = 0; node < here.size(); ++node) {
      const std::int32_t above = deepest_[node / children], held = keys[depth][node];
      here[node] = held == 0 ? above
                             : add(static_cast<Index>(depth), depth == 0 ? -1 : above,
                                   nodes.alpha[depth] / static_cast<float>(held));
    }
    deepest_ = std::move(here);
  }
  share_.push_back(0);
}

std::int32_t KeySlots::add(Index depth, std::int32_t parent, float share) {
  const auto slot = static_cast<std::int32_t>(count());
  std::int32_t* path = path_.data() + slot * depths_;
  if (parent >= 0) std::copy_n(path_.data() + parent * depths_, depth, path);
  path[depth] = slot;
  parent_.push_back(parent);
  share_.push_back(share);
  return slot;
}

}  // namespace fovea
