// Which kernel of attend_mma.cuh runs, with how many threads.
#pragma once

#include <algorithm>
#include <string>

#include "device/launch.h"
#include "tiles/attend.h"
#include "tiles/attend_mma.cuh"

namespace fovea::cuda {

// For d, dv <= 64, counted by nvcc 13.0 for 9.0:
//   kernel             queries  threads  blocks on a multiprocessor  registers  bound by
//   16 bits                128      128                           2        243  tensor cores
//   16 bits             16, 64  32, 128                           4        128  tensor cores
//   16 bits with maps      128      128                           2        249  instructions
//   fp32 split             128      256                           1        235  tensor cores
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
    attend_mma_kernel(const AttendMmaArgs args) {
  MmaAttention<P, DepthChunks, ValueChunks, Groups, Maps>(args).run();
}

template <Precision P, int DepthChunks, int ValueChunks, int Groups = 1, bool Maps = false>
void launch_attend_mma(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  launch(attend_mma_kernel<P, DepthChunks, ValueChunks, Groups, Maps>,
         {.grid = dim3(static_cast<unsigned>(args.count)),
          .block = dim3(static_cast<unsigned>(height / (Groups * group_rows) * 32)),
          .shared_bytes = attend_mma_shared_bytes(height, args.d, P),
          .stream = stream},
         args);
}

template <Precision P, int DepthChunks>
void choose_mma_values(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  if (args.dv <= chunk)
    launch_attend_mma<P, DepthChunks, 1>(args, height, stream);
  else
    launch_attend_mma<P, DepthChunks, 2>(args, height, stream);
}

// Fewer kernels: heads wider than 64 columns read Q from shared memory.
template <Precision P>
void attend_mma_with_maps(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  if (args.dv > 2 * chunk)
    refuse("maps on tensor cores with " + std::to_string(args.dv) + " columns of values");
  if constexpr (P != Precision::fp32_split)
    if (height == 128 && args.d <= chunk && args.dv <= chunk)
      return launch_attend_mma<P, 1, 1, 2, true>(args, height, stream);
  if (args.d <= chunk && args.dv <= chunk)
    return launch_attend_mma<P, 1, 1, 1, true>(args, height, stream);
  if (args.dv <= chunk) return launch_attend_mma<P, 0, 1, 1, true>(args, height, stream);
  launch_attend_mma<P, 0, 2, 1, true>(args, height, stream);
}

template <Precision P>
void attend_mma(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  if (std::ranges::find(query_tile_heights, height) == query_tile_heights.end())
    refuse("query tiles of " + std::to_string(height) + " queries");
  if (args.segments.pixel > 0) return attend_mma_with_maps<P>(args, height, stream);
  constexpr int chunks = P == Precision::fp32_split ? 2 : 4;
  if (args.dv < 1 || args.dv > chunks * chunk)
    refuse("attention on tensor cores with " + std::to_string(args.dv) + " columns of values");
  if constexpr (P == Precision::fp32_split) {  // registers hold the parts of Q of one chunk
    if (args.d > chunk) return choose_mma_values<P, 0>(args, height, stream);
  } else {
    if (args.dv > 2 * chunk) return launch_attend_mma<P, 0, 4>(args, height, stream);
    if (args.d > 2 * chunk) return choose_mma_values<P, 0>(args, height, stream);
    if (args.d > chunk) return choose_mma_values<P, 2>(args, height, stream);
    if (height == 128 && args.dv <= chunk)
      return launch_attend_mma<P, 1, 1, 2>(args, height, stream);
  }
  choose_mma_values<P, 1>(args, height, stream);
}

}  // namespace fovea::cuda
