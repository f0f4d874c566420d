// NodePaths are the slots that keys and queries pass on their way from the root of a tree to their
// leaf.
#pragma once

#include <vector>

#include "plan/node_slots.h"

namespace fovea {

class NodePaths {
 public:
  /// O(slots * depths + leaves * depths).
  NodePaths(const NodePlan& plan, const NodeSlots& slots);

  /// alpha / the number of keys of the node; 0 for slot slots.size(), which stands for nodes
  /// without keys.
  float share(Index slot) const { return share_[slot]; }
  /// The last slot on the way to a leaf: the leaf itself if it holds a key.
  std::int32_t deepest(std::int32_t leaf) const { return deepest_[leaf]; }
  /// [depths] the slots on the way to a leaf, root first; slots.size() for nodes without keys.
  const std::int32_t* path(std::int32_t leaf) const {
    return path_.data() + Index{deepest(leaf)} * depths_;
  }

 private:
  Index depths_;                       // h + 1
  std::vector<float> share_;           // [slots + 1]
  std::vector<std::int32_t> path_;     // [slots + 1, depths]
  std::vector<std::int32_t> deepest_;  // [leaves]
};

}  // namespace fovea
