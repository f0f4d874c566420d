#include "backend/node_paths.h"

#include <algorithm>

namespace fovea {

NodePaths::NodePaths(const NodePlan& plan, const NodeSlots& slots)
    : depths_(slots.depths()),
      share_(slots.size() + 1, 0.0f),
      path_((slots.size() + 1) * depths_, slots.size()) {
  const std::vector<std::int64_t> below = leaves_below(plan);
  deepest_.resize(below.front());
  for (Index depth = 0; depth < depths_; ++depth)
    for (std::int32_t slot = slots.first[depth]; slot < slots.first[depth + 1]; ++slot) {
      share_[slot] = plan.alpha[depth] / static_cast<float>(slots.keys[slot].size());
      std::int32_t* const path = path_.data() + slot * depths_;
      if (depth > 0) std::copy_n(path_.data() + slots.parent[slot] * depths_, depth, path);
      path[depth] = slot;
      std::fill_n(deepest_.begin() + slots.node[slot] * below[depth], below[depth], slot);
    }
}

}  // namespace fovea
