// join_parts joins the softmax states of the parts of divided query tiles to those of their
// queries.
#pragma once

#include <cuda_runtime.h>

#include "tiles/attend_args.h"

namespace fovea::cuda {

/// Upper bound on the parts of a query tile.
inline constexpr int most_parts = 32;

struct JoinPartsArgs {
  const DividedQueryTile* divided = nullptr;
  int count = 0;
  const QueryTile* tiles = nullptr;       // of which the parts are
  const std::int32_t* indices = nullptr;  // orders of queries
  SoftmaxStates states;                   // of the queries and of the parts
};

void join_parts(const JoinPartsArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
