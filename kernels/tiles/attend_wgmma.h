// attend_wgmma is attend_mma by the products of warpgroups, which compute capability 9.0 alone has
// (target sm_90a), for heads of up to 128 columns whose logits no rule changes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "tiles/attend_mma.h"

namespace fovea::cuda {

/// Keys that a block takes at a time.
inline constexpr int wgmma_kv_tile_keys = 128;

/// Whether there is a kernel for query tiles of `height` queries, d columns of keys and dv of
/// values: 64, 128 or 192 queries of narrow heads, 64 with maps; 64 or 128 of wide ones.
constexpr bool wgmma_takes(int height, Index d, Index dv, bool maps) {
  if (d > 128 || dv > 128) return false;
  const bool narrow = d <= 64 && dv <= 64;
  return height == 64 || (height == 128 && !(narrow && maps)) || (height == 192 && narrow && !maps);
}

/// Dynamic shared memory of a block.
std::size_t attend_wgmma_shared_bytes(int height, int d, int dv);

/// As attend_mma, with maps and without, for what wgmma_takes and heads without
/// HeadConditions::changes. `*stuck` becomes 1, and the results are undefined, if a block timed
/// out. What is written as the maximum of a row may be less than it by up to 8, in log2; its sum is
/// relative to that.
template <Precision P>
void attend_wgmma(const AttendArgs& args, const MmaOperands& operands, int height, int* stuck,
                  cudaStream_t stream);

extern template void attend_wgmma<Precision::bf16>(const AttendArgs&, const MmaOperands&, int, int*,
                                                   cudaStream_t);
extern template void attend_wgmma<Precision::fp16>(const AttendArgs&, const MmaOperands&, int, int*,
                                                   cudaStream_t);

}  // namespace fovea::cuda
