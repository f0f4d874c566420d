// Which kernel of attend_wgmma.cuh runs.
#pragma once

#include <string>

#include "device/launch.h"
#include "tiles/attend_wgmma.cuh"

namespace fovea::cuda {

template <Precision P, class Shape, bool Maps>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    attend_wgmma_kernel(const __grid_constant__ WgmmaArgs args) {
  WgmmaAttention<P, Shape, Maps>(args).run();
}

template <int DepthChunks, int ValueChunks, class Use>
auto with_consumers(int height, Use use) {
#ifdef W_CONSUMERS
  return use(WgmmaShape<DepthChunks, ValueChunks, W_CONSUMERS>());
#else
  return height > group_queries ? use(WgmmaShape<DepthChunks, ValueChunks, 2>())
                                : use(WgmmaShape<DepthChunks, ValueChunks, 1>());
#endif
}

/// use(WgmmaShape) for query tiles of that height and heads of that width.
template <class Use>
auto with_wgmma_shape(int height, int d, int dv, Use use) {
#ifdef W_ABLATION
  (void)dv;
#if W_ABLATION_ONLY_64
  (void)d;
  return with_consumers<1, 1>(height, use);
#else
  if (d <= chunk) return with_consumers<1, 1>(height, use);
  return with_consumers<2, 2>(height, use);
#endif
#else
  if (d <= chunk)
    return dv <= chunk ? with_consumers<1, 1>(height, use) : with_consumers<1, 2>(height, use);
  return dv <= chunk ? with_consumers<2, 1>(height, use) : with_consumers<2, 2>(height, use);
#endif
}

template <Precision P>
void attend_wgmma(const AttendArgs& args, const MmaOperands& operands, int height, int* stuck,
                  cudaStream_t stream) {
  const int dv = args.states.dv;
  if (!wgmma_takes(height, args.d, dv) || dv < 1 || args.queries.lists.head.changes)
    refuse("attention by products of warpgroups with query tiles of " + std::to_string(height) +
           " queries, d = " + std::to_string(args.d) + " and dv = " + std::to_string(dv));
  const WgmmaArgs all{args, operands, tensor_map(operands.k, operands.key_rows, P, wide_keys),
                      tensor_map(operands.v, operands.key_rows, P, wide_keys), stuck};
  with_wgmma_shape(height, args.d, dv, [&](auto shape) {
    using Shape = decltype(shape);
    const bool maps = args.segments.pixel > 0;
#ifdef W_ABLATION
    if (maps) refuse("maps");
    launch(attend_wgmma_kernel<P, Shape, false>,
#else
    launch(maps ? attend_wgmma_kernel<P, Shape, true> : attend_wgmma_kernel<P, Shape, false>,
#endif
           {.grid = dim3(static_cast<unsigned>(args.queries.count)),
            .block = dim3(static_cast<unsigned>(Shape::threads)),
            .shared_bytes = Shape::shared_bytes,
            .stream = stream},
           all);
  });
}

}  // namespace fovea::cuda
