// KeySlots are the nodes of a NodePlan's tree that hold keys, numbered root first, left to right.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace fovea {

class KeySlots {
 public:
  /// O(keys + nodes).
  explicit KeySlots(const NodePlan& nodes);

  Index count() const { return static_cast<Index>(parent_.size()); }
  std::int32_t parent(Index slot) const { return parent_[static_cast<std::size_t>(slot)]; }
  /// alpha / the keys of the node; of slot count(), which stands for nodes without keys: 0.
  float share(Index slot) const { return share_[static_cast<std::size_t>(slot)]; }
  /// The last slot on the way down to a leaf: the leaf itself if it holds a key.
  std::int32_t deepest(std::int32_t leaf) const { return deepest_[static_cast<std::size_t>(leaf)]; }
  /// [depths] the slots on the way down to a leaf, root first; count() where nodes hold no key.
  const std::int32_t* path(std::int32_t leaf) const {
    return path_.data() + deepest(leaf) * depths_;
  }

 private:
  std::int32_t add(Index depth, std::int32_t parent, float share);

  Index depths_;                       // h + 1
  std::vector<std::int32_t> parent_;   // [count]
  std::vector<float> share_;           // [count + 1]
  std::vector<std::int32_t> path_;     // [count + 1, depths]
  std::vector<std::int32_t> deepest_;  // [leaves]
};

}  // namespace fovea
