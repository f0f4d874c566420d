#include "device/launch.h"
#include "ptx.h"
#include "tiles/join_parts.h"
#include "tiles/query_tile.cuh"

namespace fovea::cuda {
namespace {

constexpr int join_threads = 128, join_lanes = 32;

__device__ float largest_of_warp(float x) {
#pragma unroll
  for (int flip = 1; flip < join_lanes; flip *= 2)
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, flip));
  return x;
}

__device__ float sum_of_warp(float x) {
#pragma unroll
  for (int flip = 1; flip < join_lanes; flip *= 2) x += __shfl_xor_sync(0xffffffffu, x, flip);
  return x;
}

// A block for each divided query tile, a warp for each query at a time, a lane for the state of
// each part. 36 registers, no shared memory; bound by memory: each row of Z is read once.
__global__ void __launch_bounds__(join_threads) join_parts_kernel(const JoinPartsArgs a) {
  const DividedQueryTile& divided = a.divided[blockIdx.x];
  const QueryTile& whole = divided.whole;
  const int lane = static_cast<int>(threadIdx.x) % join_lanes;
  const std::int32_t first_state = a.tiles[divided.first].state_base;
  for (int r = static_cast<int>(threadIdx.x) / join_lanes; r < whole.row_count;
       r += join_threads / join_lanes) {
    const std::int32_t row = whole.state_base + cluster_of(whole, a.indices, r);
    const auto state_of = [&](int part) { return first_state + part * whole.row_count + r; };
    const float its_sum = lane < divided.parts ? a.states.sum[state_of(lane)] : 0.0f,
                its_maximum = its_sum != 0 ? a.states.maximum[state_of(lane)] : -INFINITY;
    const float old_sum = a.states.last ? 0.0f : a.states.sum[row],
                old_maximum = old_sum != 0 ? a.states.maximum[row] : -INFINITY;
    const float maximum = fmaxf(largest_of_warp(its_maximum), old_maximum),
                reference = maximum == -INFINITY ? 0.0f : maximum;  // avoid (-inf) - (-inf)
    float its_factor = its_sum != 0 ? exp2_fast(its_maximum - reference) : 0.0f,
          old_factor = old_sum != 0 ? exp2_fast(old_maximum - reference) : 0.0f;
    const float sum = sum_of_warp(its_sum * its_factor) + old_sum * old_factor;
    if (a.states.last && sum != 0) its_factor /= sum;
    __syncwarp();  // all lanes have read the state
    if (lane == 0) {
      a.states.maximum[row] = maximum;
      a.states.sum[row] = sum;
    }
    for (int first = 0; first < a.states.dv; first += 4 * join_lanes) {
      const int column = first + 4 * lane;
      float4 z = make_float4(0, 0, 0, 0);
      const auto add = [&](std::int32_t from, float factor) {
        if (column >= a.states.dv) return;
        const float4 part = *reinterpret_cast<const float4*>(
            a.states.z + static_cast<std::size_t>(from) * a.states.z_stride + column);
        z = make_float4(fmaf(part.x, factor, z.x), fmaf(part.y, factor, z.y),
                        fmaf(part.z, factor, z.z), fmaf(part.w, factor, z.w));
      };
      if (old_sum != 0) add(row, old_factor);  // else it was not written
      for (int part = 0; part < divided.parts; ++part)
        add(state_of(part), __shfl_sync(0xffffffffu, its_factor, part));
      if (column < a.states.dv)
        *reinterpret_cast<float4*>(a.states.z + static_cast<std::size_t>(row) * a.states.z_stride +
                                   column) = z;
    }
  }
}

}  // namespace

void join_parts(const JoinPartsArgs& args, cudaStream_t stream) {
  launch(join_parts_kernel,
         {.grid = dim3(static_cast<unsigned>(args.count)),
          .block = dim3(join_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
