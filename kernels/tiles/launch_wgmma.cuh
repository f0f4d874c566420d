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
  if constexpr (DepthChunks == 1 && ValueChunks == 1)
    if (height > 2 * group_queries) return use(WgmmaShape<DepthChunks, ValueChunks, 3>());
  return height > group_queries ? use(WgmmaShape<DepthChunks, ValueChunks, 2>())
                                : use(WgmmaShape<DepthChunks, ValueChunks, 1>());
}

/// use(WgmmaShape) for query tiles of that height and heads of that width.
template <class Use>
auto with_wgmma_shape(int height, int d, int dv, Use use) {
  if (d <= chunk)
    return dv <= chunk ? with_consumers<1, 1>(height, use) : with_consumers<1, 2>(height, use);
  return dv <= chunk ? with_consumers<2, 1>(height, use) : with_consumers<2, 2>(height, use);
}

template <Precision P>
void attend_wgmma(const AttendArgs& args, const MmaOperands& operands, int height, int* stuck,
                  cudaStream_t stream) {
  const int dv = args.states.dv;
  const bool maps = args.segments.pixel > 0;
  if (!wgmma_takes(height, args.d, dv, maps) || dv < 1 || args.queries.lists.head.changes)
    refuse("attention by products of warpgroups with query tiles of " + std::to_string(height) +
           " queries, d = " + std::to_string(args.d) + " and dv = " + std::to_string(dv));
  const WgmmaArgs all{args, operands, tensor_map(operands.k, operands.key_rows, P, wide_keys),
                      tensor_map(operands.v, operands.key_rows, P, wide_keys), stuck};
  with_wgmma_shape(height, args.d, dv, [&](auto shape) {
    using Shape = decltype(shape);
    const auto kernel = [&] {
      if constexpr (!Shape::narrow || Shape::consumers == 1)
        if (maps) return attend_wgmma_kernel<P, Shape, true>;
      return attend_wgmma_kernel<P, Shape, false>;
    };
    launch(kernel(),
           {.grid = dim3(static_cast<unsigned>(args.queries.count)),
            .block = dim3(static_cast<unsigned>(Shape::threads)),
            .shared_bytes = Shape::shared_bytes,
            .stream = stream},
           all);
  });
}

}  // namespace fovea::cuda
