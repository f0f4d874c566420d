// Mistakes between the blocks of a launch, which run in any order on a device.
#include "broken.h"

namespace fovea::broken {
namespace {

// The second block reads what the first one writes.
__global__ void read_from_first(float* between, float* out) {
  if (blockIdx.x == 0)
    between[threadIdx.x] = 1;
  else
    out[threadIdx.x] = between[threadIdx.x];
}

// Both blocks write all values, if the same ones.
__global__ void write_all(float* out) {
  out[threadIdx.x] = 1;
}

__global__ void add_to(float* sum) {
  sum[threadIdx.x] += 0.5f;
}

// One block adds by atomic operations, the other one as if it were alone.
__global__ void add_to_atomic(float* sum) {
  if (blockIdx.x == 0)
    atomicAdd(&sum[threadIdx.x], 0.5f);
  else
    sum[threadIdx.x] += 0.5f;
}

__global__ void clear(float* values) {
  values[threadIdx.x] = 0;
}
__global__ void add_atomically(float* sum) {
  atomicAdd(&sum[threadIdx.x], 1.0f / static_cast<float>(gridDim.x));
}

// Each block takes the next place in turn, and reads and writes its own values several times.
__global__ void take_places(unsigned* next, float* out) {
  if (threadIdx.x != 0) return;
  const unsigned place = atomicAdd(next, 1u);
  out[place] = 0.25f;
  for (int i = 0; i < 3; ++i) out[place] += 0.25f;
}

void with_zeros(const Arrays& a, int blocks, void (*kernel)(float*)) {
  run(1, clear, a.out);
  run(blocks, kernel, a.out);
}

}  // namespace

Mistakes between_blocks() {
  return {{"read-other-block",
           [](const Arrays& a) {
             float* between = nullptr;
             cudaMalloc(reinterpret_cast<void**>(&between), threads * sizeof(float));
             run(2, read_from_first, between, a.out);
             cudaFree(between);
           }},
          {"write-other-block", [](const Arrays& a) { run(2, write_all, a.out); }},
          {"add-other-block", [](const Arrays& a) { with_zeros(a, 2, add_to); }},
          {"add-to-atomic", [](const Arrays& a) { with_zeros(a, 2, add_to_atomic); }},
          {"atomic-blocks", [](const Arrays& a) { with_zeros(a, 4, add_atomically); }},
          {"own-places", [](const Arrays& a) {
             unsigned* next = nullptr;
             cudaMalloc(reinterpret_cast<void**>(&next), sizeof(unsigned));
             cudaMemsetAsync(next, 0, sizeof(unsigned), nullptr);
             run(threads, take_places, next, a.out);
             cudaFree(next);
           }}};
}

}  // namespace fovea::broken
