// Which kernel of attend_mma.cuh runs, with how many threads.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "device/launch.h"
#include "tiles/attend_mma.cuh"

namespace fovea::cuda {

// For d, dv <= 64, counted by nvcc 13.0 for 9.0:
//   kernel             queries  threads  registers  shared memory  blocks at once  bound by
//   16 bits                128      128        243         46 KiB               2  tensor cores
//   16 bits             16, 64  32, 128        128  32 and 38 KiB               4  tensor cores
//   16 bits with maps      128      128        254         46 KiB               2  instructions
//   fp32 split             128      256        237         62 KiB               1  tensor cores
// Wider heads have a warp for 16 queries, and one block on a multiprocessor.
template <Precision P, int DepthChunks, int ValueChunks, int Groups, bool Maps>
struct MmaBlocks {
  static constexpr bool narrow = P != Precision::fp32_split && DepthChunks == 1 && ValueChunks == 1;
  static constexpr int threads = narrow ? 128 : 256, at_once = !narrow                ? 1
                                                               : Groups == 1 && !Maps ? 4
                                                                                      : 2;
};

template <Precision P, int DepthChunks, int ValueChunks, int Groups, bool Maps>
__global__ void __launch_bounds__(MmaBlocks<P, DepthChunks, ValueChunks, Groups, Maps>::threads,
                                  MmaBlocks<P, DepthChunks, ValueChunks, Groups, Maps>::at_once)
    attend_mma_kernel(const AttendArgs args, const MmaOperands operands) {
  MmaAttention<P, DepthChunks, ValueChunks, Groups, Maps>(args, operands).run();
}

struct MmaKernel {
  int d, dv;   // upper bounds
  int groups;  // of 16 queries, for each warp
  bool maps;
  void (*kernel)(AttendArgs, MmaOperands);
};

template <Precision P, int DepthChunks, int ValueChunks, int Groups = 1, bool Maps = false>
MmaKernel mma_kernel() {
  return {DepthChunks > 0 ? DepthChunks * chunk : std::numeric_limits<int>::max(),
          ValueChunks * chunk, Groups, Maps,
          attend_mma_kernel<P, DepthChunks, ValueChunks, Groups, Maps>};
}

// Those for narrower heads first. With maps there are fewer: heads wider than 64 columns read Q
// from shared memory. With split numbers registers hold Q only up to 64 columns.
template <Precision P>
const auto& mma_kernels() {
  if constexpr (P == Precision::fp32_split) {
    static const std::array kernels{mma_kernel<P, 1, 1>(),          mma_kernel<P, 1, 2>(),
                                    mma_kernel<P, 0, 1>(),          mma_kernel<P, 0, 2>(),
                                    mma_kernel<P, 1, 1, 1, true>(), mma_kernel<P, 0, 1, 1, true>(),
                                    mma_kernel<P, 0, 2, 1, true>()};
    return kernels;
  } else {
    static const std::array kernels{mma_kernel<P, 1, 1, 2>(),       mma_kernel<P, 1, 1>(),
                                    mma_kernel<P, 1, 2>(),          mma_kernel<P, 2, 1>(),
                                    mma_kernel<P, 2, 2>(),          mma_kernel<P, 0, 1>(),
                                    mma_kernel<P, 0, 2>(),          mma_kernel<P, 0, 4>(),
                                    mma_kernel<P, 1, 1, 2, true>(), mma_kernel<P, 1, 1, 1, true>(),
                                    mma_kernel<P, 0, 1, 1, true>(), mma_kernel<P, 0, 2, 1, true>()};
    return kernels;
  }
}

template <Precision P>
void attend_mma(const AttendArgs& args, const MmaOperands& operands, int height,
                cudaStream_t stream) {
  const int dv = args.states.dv;
  const bool maps = args.segments.pixel > 0;
  const auto found = std::ranges::find_if(mma_kernels<P>(), [&](const MmaKernel& each) {
    return args.d <= each.d && dv <= each.dv && maps == each.maps &&
           (each.groups == 1 || height == 128);
  });
  if (dv < 1 || found == mma_kernels<P>().end() ||
      std::ranges::find(query_tile_heights, height) == query_tile_heights.end())
    refuse("attention on tensor cores with " + std::to_string(dv) +
           " columns of values at once, query tiles of " + std::to_string(height) + " queries" +
           (maps ? " and maps" : ""));
  launch(found->kernel,
         {.grid = dim3(static_cast<unsigned>(args.queries.count)),
          .block = dim3(static_cast<unsigned>(height / (found->groups * group_rows) * 32)),
          .shared_bytes = attend_mma_shared_bytes(height, args.d, P),
          .stream = stream},
         args, operands);
}

}  // namespace fovea::cuda
