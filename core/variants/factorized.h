// What the two factorized attentions of Sparse Transformers share: two sets of keys per query and
// how the heads use them.
#pragma once

#include "analysis/key_sets.h"
#include "variants/schema.h"

namespace fovea {

/// One softmax over the union, one set alone, or even heads the first and odd heads the second.
enum class HeadSets { merged, first, second, split };

/// What a head of that index does: never `split`.
inline HeadSets sets_of_head(HeadSets sets, Index head) {
  if (sets != HeadSets::split) return sets;
  return head % 2 == 0 ? HeadSets::first : HeadSets::second;
}

/// The stride for a short head.
inline Index short_stride(Index n) {
  return short_size(n, 128);
}

}  // namespace fovea
