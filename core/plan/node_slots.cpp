#include "plan/node_slots.h"

#include <algorithm>

#include "data/group_by.h"

namespace fovea {
namespace {

// The slots of one depth; children and parents are positions within the neighbouring depth.
struct Depth {
  std::vector<std::int64_t> node;
  std::vector<Range32> keys, children;
};

Depth leaf_slots(const NodePlan& plan, std::span<const std::int32_t> order) {
  Depth leaves;
  for (std::size_t p = 0; p < order.size(); ++p) {
    const std::int64_t leaf = plan.key_leaf[order[p]];
    const auto at = static_cast<std::int32_t>(p);
    if (leaves.node.empty() || leaves.node.back() != leaf) {
      leaves.node.push_back(leaf);
      leaves.keys.push_back({at, at});
    }
    leaves.keys.back().end = at + 1;
  }
  leaves.children.resize(leaves.node.size());
  return leaves;
}

Depth slots_above(const Depth& below, std::int64_t branching) {
  Depth above;
  for (std::size_t s = 0; s < below.node.size(); ++s) {
    const std::int64_t node = below.node[s] / branching;
    const auto at = static_cast<std::int32_t>(s);
    if (above.node.empty() || above.node.back() != node) {
      above.node.push_back(node);
      above.keys.push_back(below.keys[s]);
      above.children.push_back({at, at});
    }
    above.keys.back().end = below.keys[s].end;
    above.children.back().end = at + 1;
  }
  return above;
}

}  // namespace

std::vector<std::int64_t> leaves_below(const NodePlan& plan) {
  std::vector<std::int64_t> below(plan.branching.size() + 1, 1);
  for (std::size_t depth = plan.branching.size(); depth-- > 0;)
    below[depth] = below[depth + 1] * plan.branching[depth];
  return below;
}

std::vector<std::int32_t> leaf_order(const NodePlan& plan) {
  return group_by(plan.key_leaf, leaves_below(plan).front()).order;
}

NodeSlots number_slots(const NodePlan& plan, std::span<const std::int32_t> order) {
  std::vector<Depth> depths{leaf_slots(plan, order)};  // from the leaves up
  for (std::size_t depth = plan.branching.size(); depth-- > 0;)
    depths.push_back(slots_above(depths.back(), plan.branching[depth]));
  std::ranges::reverse(depths);

  NodeSlots slots;
  slots.first.push_back(0);
  slots.parent.assign(depths.front().node.size(), -1);
  for (const Depth& depth : depths) {
    const auto first = slots.first.back(),
               next = first + static_cast<std::int32_t>(depth.node.size());
    slots.first.push_back(next);
    slots.node.insert(slots.node.end(), depth.node.begin(), depth.node.end());
    slots.keys.insert(slots.keys.end(), depth.keys.begin(), depth.keys.end());
    for (std::size_t s = 0; s < depth.children.size(); ++s) {
      const Range32 children = depth.children[s];
      slots.children.push_back({next + children.begin, next + children.end});
      slots.parent.insert(slots.parent.end(), children.end - children.begin,
                          first + static_cast<std::int32_t>(s));
    }
  }
  return slots;
}

Pieces cut_pieces(const NodeSlots& slots, int depth, std::int32_t keys_per_piece) {
  Pieces pieces;
  for (std::int32_t s = slots.first[depth]; s < slots.first[depth + 1]; ++s) {
    const Range32 keys = slots.keys[s];
    const auto first = static_cast<std::int32_t>(pieces.keys.size());
    for (std::int32_t begin = keys.begin; begin < keys.end; begin += keys_per_piece)
      pieces.keys.push_back({begin, std::min(begin + keys_per_piece, keys.end)});
    pieces.of.push_back({first, static_cast<std::int32_t>(pieces.keys.size())});
  }
  return pieces;
}

}  // namespace fovea
