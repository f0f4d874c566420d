// NodeSlots are the tree nodes that hold keys, numbered: root first, each depth left to right. In
// leaf order (keys by leaf, those of a leaf in sequence order) the keys of any node lie side by
// side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace fovea::cuda {

struct Range {
  std::int32_t begin = 0, end = 0;  // half-open
};

struct NodeSlots {
  std::vector<std::int32_t> first;   // [depths + 1] slots before those of a depth
  std::vector<std::int64_t> node;    // [slots] which node of its depth
  std::vector<Range> keys;           // [slots] positions in leaf order
  std::vector<std::int32_t> parent;  // [slots] -1: the root has none
  std::vector<Range> children;       // [slots] slots; of a leaf: none

  int depths() const { return static_cast<int>(first.size()) - 1; }
  std::int32_t size() const { return first.back(); }
  std::int32_t size(int depth) const {
    return first[static_cast<std::size_t>(depth) + 1] - first[static_cast<std::size_t>(depth)];
  }
};

/// Leaves below a node of each depth, root first.
std::vector<std::int64_t> leaves_below(const NodePlan& plan);

/// `order`: the keys in leaf order; at least one.
NodeSlots number_slots(const NodePlan& plan, std::span<const std::int32_t> order);

/// Keys of the slots of a depth, cut into pieces of a fixed size, so that long nodes are summed by
/// many threads and the result depends on the plan alone.
struct Pieces {
  std::vector<Range> keys;  // positions in leaf order
  std::vector<Range> of;    // of every slot of the depth: its pieces
};

inline constexpr std::int32_t keys_per_piece = 128;

Pieces cut_pieces(const NodeSlots& slots, int depth);

}  // namespace fovea::cuda
