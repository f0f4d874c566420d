// The sums over keys that a step of learning a tree needs, as in core/learning/leaf_loss.h.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

struct LeafArgs {
  int queries = 0, keys = 0, leaves = 0, d = 0, dv = 0;
  const float* q = nullptr;  // [queries, q_stride]
  const float* k = nullptr;  // [keys, k_stride] in the order of their leaves
  const float* v = nullptr;  // [keys, v_stride]
  const float* t = nullptr;  // [queries, v_stride] the targets
  int q_stride = 0, k_stride = 0, v_stride = 0;
  float scale = 1;
  const std::int32_t* query_leaf = nullptr;   // [queries]
  const std::int32_t* admissible = nullptr;   // [queries]; none means all keys
  const std::int32_t* place = nullptr;        // [keys]
  const std::int32_t* leaf_begin = nullptr;   // [leaves + 1] of keys
  const std::int32_t* in_order = nullptr;     // [queries] in the order of their leaves
  const std::int32_t* order_begin = nullptr;  // [leaves + 1] of in_order

  float* logits = nullptr;  // [queries, keys] S_ij, or no_pair
  float* z = nullptr;       // [queries, v_stride] the output in the query's own leaf
  float* lse = nullptr;     // [queries] log of the sum there; no_pair: no key
  /// [queries] the first key with half the weight of the query's leaf or more, or -1, and the loss
  /// of the query without it. (Where there is another, 1 - 1/2 is exact enough.)
  std::int32_t* dominant = nullptr;
  float* loss_without = nullptr;
  float* by_query = nullptr;  // [queries, leaves] dE/da
  float* by_key = nullptr;    // [keys, leaves] dE/dg
};

/// logits.
void find_logits(const LeafArgs& args, cudaStream_t stream);
/// by_query, z and lse. After find_logits.
void find_outputs(const LeafArgs& args, cudaStream_t stream);
/// dominant and loss_without. After find_outputs.
void find_losses_without(const LeafArgs& args, cudaStream_t stream);
/// by_key. After find_losses_without.
void find_key_changes(const LeafArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
