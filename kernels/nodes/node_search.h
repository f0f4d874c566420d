// The search finds the nodes of keys and queries.
#pragma once

#include <cuda_runtime.h>

#include "plan/node_slots.h"

namespace fovea::cuda {

struct PlaceArgs {
  std::int32_t n = 0;
  const std::int32_t* leaf_order = nullptr;  // [n]
  const Range32* keys = nullptr;             // of the slots of one depth
  std::int32_t slots = 0;
  std::uint32_t* slot = nullptr;  // [n] of every key, the first of the depth counted as 0
  std::int32_t* place = nullptr;  // [n] of every key its position in leaf order
};

void place_keys(const PlaceArgs& args, cudaStream_t stream);

/// What every query finds at every depth, [depths, nq].
struct QueryNodes {
  std::int32_t* slot = nullptr;  // of its node; -1 if no key shares the node
  std::int32_t* count =
      nullptr;  // keys of the node that it may attend: with a mask, the first ones
  float* path =
      nullptr;  // sum of alpha / count from the root down: P of a pair that shares no deeper node
};

struct SearchArgs {
  std::int32_t queries = 0, keys_in_all = 0;
  int depths = 1;
  bool causal = false;
  const std::int32_t* first = nullptr;         // as in NodeSlots
  const std::int64_t* node = nullptr;          // as in NodeSlots
  const Range32* keys = nullptr;               // as in NodeSlots
  const std::int64_t* leaves_below = nullptr;  // [depths]
  const float* alpha = nullptr;                // [depths]
  const std::int32_t* orders = nullptr;  // [depths, nk] keys by node, those of a node in sequence
  const std::int32_t* query_leaf = nullptr;  // [nq]
  QueryNodes found;
  std::int32_t* deepest = nullptr;  // [nq] the last slot on the query's path
};

void find_queries(const SearchArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
