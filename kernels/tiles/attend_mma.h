// attend_mma is attend on tensor cores: queries, keys, values and the weights of the softmax have
// 16 bits, and products are added in fp32. Query tiles, runs, bands, weights and states are those
// of attend.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "device/matrix_16.h"
#include "tiles/attend_args.h"

namespace fovea::cuda {

/// Q, K and V in 16 bits, with rows as in Fp32Operands. Q is times log2_scale, so that q.k is a
/// logit in log2 units. In fp32_split all are split: q.k times logit_factor is a logit, and v times
/// value_factor a value.
struct MmaOperands {
  Rows16 q, k, v;
  float logit_factor = 1, value_factor = 1;
  Index key_rows = 0;  // of K and of V
};

/// The compute capability that it needs, 8.0.
inline constexpr int mma_architecture = 80;

/// Dynamic shared memory of a block; `height`: one of query_tile_heights.
std::size_t attend_mma_shared_bytes(int height, int d, Precision precision);

/// For query tiles of at most `height` queries, in any precision but fp32. dv: not 0, at most 256,
/// in fp32_split and with maps 128. Segments are of the logits of this precision.
template <Precision P>
void attend_mma(const AttendArgs& args, const MmaOperands& operands, int height,
                cudaStream_t stream);

extern template void attend_mma<Precision::fp32_split>(const AttendArgs&, const MmaOperands&, int,
                                                       cudaStream_t);
extern template void attend_mma<Precision::bf16>(const AttendArgs&, const MmaOperands&, int,
                                                 cudaStream_t);
extern template void attend_mma<Precision::fp16>(const AttendArgs&, const MmaOperands&, int,
                                                 cudaStream_t);

}  // namespace fovea::cuda
