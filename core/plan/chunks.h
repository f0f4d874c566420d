// Chunks divide the queries and the keys of a head, as attention over sorted tokens does (Reformer,
// Kitaev et al. 2020, section 2).
#pragma once

#include <cstdint>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct Chunks {
  std::vector<std::int32_t> query, key;  // [n] the chunk of each query and of each key

  /// Whether query i attends key j: of its own chunk, or of the chunk before it.
  bool meet(Index i, Index j) const {
    const std::int32_t apart = query[i] - key[j];
    return apart == 0 || apart == 1;
  }
};

}  // namespace fovea
