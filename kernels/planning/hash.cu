#include "device/launch.h"
#include "planning/hash.h"
#include "ptx.h"

namespace fovea::cuda {
namespace {

constexpr int hash_threads = 128;            // a row of x each
constexpr int hash_chunk = 64;               // columns in shared memory at a time
constexpr int hash_padded = hash_chunk + 4;  // floats from row to row: no bank conflicts

__device__ void load_hash_rows(float* tile, const float* rows, Index count, int row_limit,
                               int stride, int first_column) {
  for (int at = static_cast<int>(threadIdx.x); at < row_limit * hash_chunk / 4;
       at += hash_threads) {
    const int row = at / (hash_chunk / 4), column = at % (hash_chunk / 4) * 4;
    float4 part = make_float4(0, 0, 0, 0);
    if (row < count && first_column + column < stride)
      part = *reinterpret_cast<const float4*>(rows + static_cast<Index>(row) * stride +
                                              first_column + column);
    *reinterpret_cast<float4*>(tile + row * hash_padded + column) = part;
  }
}

// One pass over x: each column is multiplied with all directions. For 32 of them 128 registers and
// 43 KiB of shared memory: four blocks on a multiprocessor. Bound by multiply-adds.
template <int Directions>
__global__ void __launch_bounds__(hash_threads, 4) hash_kernel(const HashArgs a) {
  float* const rows = dynamic_shared<float>();
  float* const directions = rows + hash_threads * hash_padded;
  const Index first = static_cast<Index>(blockIdx.x) * hash_threads;
  const int columns = min(a.x_stride, a.direction_stride);
  float dot[Directions] = {};
  for (int column = 0; column < columns; column += hash_chunk) {
    __syncthreads();  // all threads have read the columns before
    load_hash_rows(rows, a.x + first * a.x_stride, a.n - first, hash_threads, a.x_stride, column);
    load_hash_rows(directions, a.directions, a.count, Directions, a.direction_stride, column);
    __syncthreads();
    const float* own = rows + static_cast<int>(threadIdx.x) * hash_padded;
    const int end = min(hash_chunk, columns - column);
    for (int c = 0; c < end; c += 4) {
      const float4 x = *reinterpret_cast<const float4*>(own + c);
#pragma unroll
      for (int t = 0; t < Directions; ++t) {
        const float4 w = *reinterpret_cast<const float4*>(directions + t * hash_padded + c);
        dot[t] += x.x * w.x;
        dot[t] += x.y * w.y;
        dot[t] += x.z * w.z;
        dot[t] += x.w * w.w;
      }
    }
  }
  const Index i = first + threadIdx.x;
  if (i >= a.n) return;
  std::uint32_t code = 0;
#pragma unroll
  for (int t = 0; t < Directions; ++t) code |= static_cast<std::uint32_t>(dot[t] > 0) << t;
  // The inverse Gray code is the prefix exclusive-or from the top bit down.
  for (int shift = 1; shift < 32; shift *= 2) code ^= code >> shift;
  a.bucket[i] = static_cast<std::int32_t>(code);
}

template <int Directions>
void launch_hash(const HashArgs& args, cudaStream_t stream) {
  launch(hash_kernel<Directions>,
         {.grid = dim3(static_cast<unsigned>((args.n + hash_threads - 1) / hash_threads)),
          .block = dim3(hash_threads),
          .shared_bytes = sizeof(float) * hash_padded * (hash_threads + Directions),
          .stream = stream},
         args);
}

}  // namespace

void hash(const HashArgs& args, cudaStream_t stream) {
  if (args.count <= 8) return launch_hash<8>(args, stream);
  if (args.count <= 16) return launch_hash<16>(args, stream);
  if (args.count <= most_directions) return launch_hash<most_directions>(args, stream);
  refuse("hashes of " + std::to_string(args.count) + " directions");
}

}  // namespace fovea::cuda
