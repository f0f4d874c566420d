#include "device/launch.h"
#include "device/matrix_16.h"
#include "ptx.h"

namespace fovea::cuda {
namespace {

constexpr int round_threads = 128, round_columns = 8;

template <Precision P>
__device__ std::uint32_t round_pair(float low, float high, bool& overflow) {
  const std::uint32_t pair = pack_16<P>(low, high);
  constexpr std::uint32_t exponent = P == Precision::bf16 ? 0x7f80 : 0x7c00;
  constexpr std::uint32_t size = 0x7fff;
  overflow |= (pair & size) == exponent && fabsf(low) < INFINITY;
  overflow |= (pair >> 16 & size) == exponent && fabsf(high) < INFINITY;
  return pair;
}

// One thread per row and eight columns.
// 23 registers, 16 blocks on a multiprocessor. Bound by memory.
template <Precision P>
__global__ void __launch_bounds__(round_threads) round_kernel(const RoundArgs a) {
  const Index at = static_cast<Index>(blockIdx.x) * round_threads + threadIdx.x;
  const Index groups = a.to_stride / round_columns, row = at / groups;
  if (row >= a.rows) return;
  const int column = static_cast<int>(at % groups) * round_columns;
  const auto* from = reinterpret_cast<const float4*>(a.from + row * a.from_stride + column);
  const float4 zero = make_float4(0, 0, 0, 0);
  const float4 x = column < a.from_stride ? from[0] : zero,
               y = column + 4 < a.from_stride ? from[1] : zero;
  const float f = a.factor;
  bool overflow = false;
  const uint4 out = make_uint4(
      round_pair<P>(x.x * f, x.y * f, overflow), round_pair<P>(x.z * f, x.w * f, overflow),
      round_pair<P>(y.x * f, y.y * f, overflow), round_pair<P>(y.z * f, y.w * f, overflow));
  *reinterpret_cast<uint4*>(a.to + row * a.to_stride + column) = out;
  if (overflow) atomicMax(a.overflows, 1);
}

}  // namespace

void round_to_16(const RoundArgs& args, cudaStream_t stream) {
  const Index groups = args.rows * (args.to_stride / round_columns);
  launch(args.precision == Precision::bf16 ? round_kernel<Precision::bf16>
                                           : round_kernel<Precision::fp16>,
         {.grid = dim3(static_cast<unsigned>((groups + round_threads - 1) / round_threads)),
          .block = dim3(round_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
