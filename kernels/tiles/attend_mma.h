// attend_mma is attend on tensor cores: queries, keys, values and the weights of the softmax have
// 16 bits, and products are added in fp32. Query tiles, runs, bands, weights and states are those
// of attend.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

#include "device/matrix_16.h"
#include "tiles/query_tile_args.h"
#include "tiles/segments.h"

namespace fovea::cuda {

struct AttendMmaArgs {
  /// Rows as in QueryTileArgs. In 16 bits Q is times log2_scale, so that q.k is a logit in log2
  /// units. In fp32_split all are split: q.k times logit_factor is a logit, and v times
  /// value_factor a value.
  Rows16 q, k, v;
  float logit_factor = 1, value_factor = 1;
  int d = 0;
  int dv = 0;  // columns of Z: at most 256, in fp32_split 128, a multiple of 4, not 0
  const QueryTile* tiles = nullptr;
  int count = 0;
  Lists lists;
  float* z = nullptr;        // [state rows, z_stride]
  int z_stride = 0;          // a multiple of 4
  float* maximum = nullptr;  // [state rows], log2 units
  float* sum = nullptr;      // [state rows]; 0: no key so far; then z and maximum are not read
  bool last = false;  // each row's only query tile, unless it is a part: z is divided by its sum
  /// As in AttendArgs: of the logits of this precision.
  SegmentArgs segments = {};
};

/// The compute capability that it needs, 8.0.
inline constexpr int mma_architecture = 80;

/// Dynamic shared memory of a block; `height`: one of query_tile_heights.
std::size_t attend_mma_shared_bytes(int height, int d, Precision precision);

/// For query tiles of at most `height` queries, in any precision but fp32.
template <Precision P>
void attend_mma(const AttendMmaArgs& args, int height, cudaStream_t stream);

extern template void attend_mma<Precision::fp32_split>(const AttendMmaArgs&, int, cudaStream_t);
extern template void attend_mma<Precision::bf16>(const AttendMmaArgs&, int, cudaStream_t);
extern template void attend_mma<Precision::fp16>(const AttendMmaArgs&, int, cudaStream_t);

}  // namespace fovea::cuda
