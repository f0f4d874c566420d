// attend_mma is attend on tensor cores: queries, keys, values and the weights of the softmax in 16
// bits, products added up in fp32. Strips, runs, bands, weights and states are those of attend.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

#include "device/matrix_16.h"
#include "tiles/strip_args.h"

namespace fovea::cuda {

struct AttendMmaArgs {
  Rows16 q;     // rows as StripArgs says, but times log2_scale: q.k is a logit in log2 units
  Rows16 k, v;  // rows as StripArgs says
  int d = 0;
  int dv = 0;  // columns of Z: at most 256, a multiple of 4, not 0
  const Strip* strips = nullptr;
  int count = 0;
  Lists lists;
  float* z = nullptr;        // [state rows, z_stride]
  int z_stride = 0;          // a multiple of 4
  float* maximum = nullptr;  // [state rows], log2 units
  float* sum = nullptr;      // [state rows]; 0: no key yet, then z and maximum are not read
  bool last = false;         // each row's only strip: z is divided by its sum
};

/// The compute capability that it needs.
inline constexpr int mma_architecture = 80;

/// Dynamic shared memory of a block, for strips of `height` queries, one of strip_heights.
std::size_t attend_mma_shared_bytes(int height, int d);

/// Strips [strips, strips + count), none longer than `height`, in one of the 16-bit precisions.
template <Precision P>
void attend_mma(const AttendMmaArgs& args, int height, cudaStream_t stream);

extern template void attend_mma<Precision::bf16>(const AttendMmaArgs&, int, cudaStream_t);
extern template void attend_mma<Precision::fp16>(const AttendMmaArgs&, int, cudaStream_t);

}  // namespace fovea::cuda
