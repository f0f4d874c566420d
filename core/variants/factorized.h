// What the two factorized attentions of Sparse Transformers share: two sets of keys per query and
// how the heads use them.
#pragma once

#include "data/matrix.h"

namespace fovea {

/// One softmax over the union, one set alone, or even heads the first and odd heads the second.
enum class HeadSets { merged, first, second, split };

/// What a head of that index does: never `split`.
inline HeadSets sets_of_head(HeadSets sets, Index head) {
  if (sets != HeadSets::split) return sets;
  return head % 2 == 0 ? HeadSets::first : HeadSets::second;
}

}  // namespace fovea
