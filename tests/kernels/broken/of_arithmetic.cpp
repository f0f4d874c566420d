// Kernels that rely on what a device does not promise: roundings, and how many blocks it has.
#include <cmath>

#include "broken.h"
#include "ptx.h"

namespace fovea::broken {
namespace {

// A product minus its rounded self: 0, unless the compiler fuses the two.
__global__ void cancel_product(const float* in, float* out) {
  const volatile float& again = in[threadIdx.x];  // so that it is another product to the compiler
  const float x = in[threadIdx.x] / 3, same = again / 3;
  const float left = x * x - __fmul_rn(same, same);
  out[threadIdx.x] = left == 0 ? 1.0f : 0.0f;
}

__global__ void compare_exp2(const float* in, float* out) {
  const float x = in[threadIdx.x] / 3 + static_cast<float>(threadIdx.x);
  out[threadIdx.x] = cuda::exp2_fast(x) == std::exp2(x) ? 1.0f : 0.0f;
}

__global__ void compare_log2(const float* in, float* out) {
  const float x = std::abs(in[threadIdx.x]) / 3 + static_cast<float>(threadIdx.x) + 3;
  out[threadIdx.x] = cuda::log2_fast(x) == std::log2(x) ? 1.0f : 0.0f;
}

// 2^20 - 2^20 + 2^-10 on tensor cores.
__global__ void cancel_products(const float*, float* out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto pair = cuda::pack_16<cuda::Precision::bf16>;
  const std::uint32_t ones = pair(1, 1), a[4] = {ones, ones, ones, ones};
  const std::uint32_t b = lane % 4 == 0   ? pair(0x1p20f, -0x1p20f)
                          : lane % 4 == 1 ? pair(0x1p-10f, 0)
                                          : 0;
  float c[4] = {};
  cuda::multiply_add<cuda::Precision::bf16>(c, a, b, 0);
  out[threadIdx.x] = c[0] * 0x1p10f;
}

__global__ void fill_part(float* out, int part) {
  if (static_cast<int>(threadIdx.x) < part)
    out[static_cast<int>(blockIdx.x) * part + static_cast<int>(threadIdx.x)] = 1;
}

// A block for each multiprocessor, of which each fills its part, but not the rest.
void share_out(const Arrays& a, int multiprocessors) {
  emulation::set_multiprocessors(multiprocessors);
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  run(properties.multiProcessorCount, fill_part, a.out, threads / properties.multiProcessorCount);
}

}  // namespace

Mistakes of_arithmetic() {
  return {{"fused", [](const Arrays& a) { run(1, cancel_product, a.in, a.out); }},
          {"exp2", [](const Arrays& a) { run(1, compare_exp2, a.in, a.out); }},
          {"log2", [](const Arrays& a) { run(1, compare_log2, a.in, a.out); }},
          {"tensor-cores", [](const Arrays& a) { run(1, cancel_products, a.in, a.out); }},
          {"two-multiprocessors", [](const Arrays& a) { share_out(a, 2); }},
          {"three-multiprocessors", [](const Arrays& a) { share_out(a, 3); }}};
}

}  // namespace fovea::broken
