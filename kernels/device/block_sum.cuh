// block_sum adds up a value of each thread of a block.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// The sum over a block of `Threads` threads, a multiple of 32, in a fixed order. All threads call
/// it, and all get the sum.
template <int Threads, class T>
__device__ T block_sum(T value) {
  __shared__ T of_warp[Threads / 32];
  for (int flip = 16; flip > 0; flip /= 2) value += __shfl_xor_sync(0xffffffffu, value, flip);
  __syncthreads();  // all threads have read an earlier sum
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (int w = 0; w < Threads / 32; ++w) sum += of_warp[w];
  return sum;
}

}  // namespace fovea::cuda
