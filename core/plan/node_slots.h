// NodeSlots are a NodePlan as plain arrays: the nodes of its tree that hold keys, numbered from the
// root down, each depth from left to right. In leaf order (keys by leaf, those of a leaf in
// sequence order) the keys of every node lie side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace fovea {

/// Half-open, as the arrays of a device hold it.
struct Range32 {
  std::int32_t begin = 0, end = 0;
  std::int32_t size() const { return end - begin; }
};

struct NodeSlots {
  std::vector<std::int32_t> first;   // [depths + 1] slots before those of a depth
  std::vector<std::int64_t> node;    // [slots] number of the node within its depth
  std::vector<Range32> keys;         // [slots] positions in leaf order
  std::vector<std::int32_t> parent;  // [slots] -1 for the root
  std::vector<Range32> children;     // [slots] slots of the next depth; none for a leaf

  int depths() const { return static_cast<int>(first.size()) - 1; }
  std::int32_t size() const { return first.back(); }
  std::int32_t size(int depth) const {
    return first[static_cast<std::size_t>(depth) + 1] - first[depth];
  }
};

/// Leaves below a node of each depth, root first.
std::vector<std::int64_t> leaves_below(const NodePlan& plan);

/// The keys in leaf order. O(keys + leaves).
std::vector<std::int32_t> leaf_order(const NodePlan& plan);

/// `order`: the keys in leaf order; at least one.
NodeSlots number_slots(const NodePlan& plan, std::span<const std::int32_t> order);

/// The keys of the slots of a depth, cut into pieces of a fixed size, so that many threads sum a
/// long node and the result depends on the plan alone.
struct Pieces {
  std::vector<Range32> keys;  // positions in leaf order
  std::vector<Range32> of;    // [slots of the depth] pieces of each
};

Pieces cut_pieces(const NodeSlots& slots, int depth, std::int32_t keys_per_piece);

}  // namespace fovea
