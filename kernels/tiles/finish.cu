#include "device/cells.cuh"
#include "ptx.h"
#include "tiles/finish.h"

namespace fovea::cuda {
namespace {

constexpr int finish_threads = 128;

// Threads of a query, for four columns each; one for the sums alone.
__host__ __device__ int column_groups(const FinishArgs& a) {
  return a.divided || a.dv == 0 ? 1 : a.dv / 4;
}

__device__ Index level_rows(Index n, int level) {
  return (n + (Index{1} << level) - 1) >> level;
}

// log2 (2^own + 2^sink).
__device__ float with_sink(float own, float sink) {
  if (sink == -INFINITY) return own;
  const float most = fmaxf(own, sink);
  if (own != own || most == INFINITY) return own != own ? own : most;
  return most + log2f(exp2_fast(own - most) + exp2_fast(sink - most));
}

// One thread per query and four columns (or per query, for the sums alone). 32 registers, no shared
// memory; bound by memory.
__global__ void __launch_bounds__(finish_threads) finish_kernel(const FinishArgs a) {
  const auto [i, group] = own_cell_of_rows();
  if (i >= a.n || group >= column_groups(a)) return;
  const int column = 4 * group;

  float top = -INFINITY;
  Index base = 0;
  for (int l = 0; l < a.levels; base += level_rows(a.n, l++))
    if (a.sum[base + (i >> l)] != 0) top = fmaxf(top, a.maximum[base + (i >> l)]);
  const float reference = top == -INFINITY ? 0.0f : top;  // avoid (-inf) - (-inf)

  float sum = 0;
  float4 z = make_float4(0, 0, 0, 0);
  const bool values = !a.divided && a.dv > 0;
  base = 0;
  for (int l = 0; l < a.levels; base += level_rows(a.n, l++)) {
    const Index row = base + (i >> l);
    if (a.sum[row] == 0) continue;  // no key: z was not written
    const float factor = exp2_fast(a.maximum[row] - reference);
    sum += a.sum[row] * factor;
    if (!values) continue;
    const float4 part = *reinterpret_cast<const float4*>(a.z + row * a.z_stride + column);
    z = make_float4(z.x + part.x * factor, z.y + part.y * factor, z.z + part.z * factor,
                    z.w + part.w * factor);
  }
  const float own = sum == 0 ? -INFINITY : reference + log2f(sum);
  const float log2_sum = with_sink(own, a.log2_sink);
  if (values) {
    float share = sum == 0 ? 0.0f : 1.0f / sum;
    if (a.log2_sink != -INFINITY && sum != 0) share *= exp2_fast(own - log2_sum);
    *reinterpret_cast<float4*>(a.z + i * a.z_stride + column) =
        make_float4(z.x * share, z.y * share, z.z * share, z.w * share);
  }
  if (column == 0) a.log2_sum[i] = log2_sum;
}

}  // namespace

void finish(const FinishArgs& args, cudaStream_t stream) {
  launch(finish_kernel, rows_of_cells<finish_threads>(args.n, column_groups(args), stream), args);
}

}  // namespace fovea::cuda
