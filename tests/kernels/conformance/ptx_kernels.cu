#include <cuda_runtime.h>

#include "kernels/conformance/on_device.h"
#include "kernels/conformance/ptx_kernels.h"
#include "ptx.h"

namespace fovea::test {
namespace {

using cuda::Precision;

constexpr int threads = 128;

int blocks_for(std::size_t count) {
  return static_cast<int>((count + threads - 1) / threads);
}

enum class Function { exp2, log2 };

template <Function F>
__global__ void function_kernel(const float* x, int count, float* y) {
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (i >= count) return;
  if constexpr (F == Function::exp2) y[i] = cuda::exp2_fast(x[i]);
  if constexpr (F == Function::log2) y[i] = cuda::log2_fast(x[i]);
}

template <Function F>
std::vector<float> run_function(const std::vector<float>& x) {
  const OnDevice<float> from(x), to(x.size());
  launch(function_kernel<F>, blocks_for(x.size()), threads, 0,
         static_cast<const float*>(from.data()), static_cast<int>(x.size()), to.data());
  return to.download();
}

__global__ void wait_kernel(std::uint64_t least, std::uint64_t* waited) {
  const std::uint64_t begin = cuda::nanoseconds();
  do *waited = cuda::nanoseconds() - begin;
  while (*waited < least);
}

template <Precision P>
__global__ void pack_kernel(const float* pairs, int count, std::uint32_t* out) {
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (i < count) out[i] = cuda::pack_16<P>(pairs[2 * i], pairs[2 * i + 1]);
}

__global__ void unpack_kernel(const std::uint32_t* pairs, int count, float* out) {
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (i >= count) return;
  const float2 of = cuda::unpack_fp16(pairs[i]);
  out[2 * i] = of.x;
  out[2 * i + 1] = of.y;
}

// Each thread copies for itself, and reads what the thread after it has copied.
__global__ void copy_kernel(const std::uint32_t* from, const int* valid, std::uint32_t* out) {
  auto* shared = cuda::dynamic_shared<std::uint32_t>();
  const int t = static_cast<int>(threadIdx.x), next = (t + 1) % copy_threads;
  for (int g = 0; g < copy_groups; ++g) {
    cuda::copy_16_async(shared + 4 * (g * copy_threads + t), from + 4 * from_slot(g, t),
                        valid[g * copy_threads + t] != 0);
    cuda::commit_copies();
  }
  const auto read = [&](int group) {
    __syncthreads();
    const int at = 4 * (group * copy_threads + next);
    for (int w = 0; w < 4; ++w) out[at + w] = shared[at + w];
  };
  cuda::wait_copies<2>();
  read(0);
  cuda::wait_copies<1>();
  read(1);
  cuda::wait_copies<0>();
  read(2);
}

template <bool Transposed>
__global__ void load_kernel(const std::uint16_t* values, int count, const int* place,
                            std::uint32_t* out) {
  auto* shared = cuda::dynamic_shared<std::uint16_t>();
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < count; i += 32) shared[i] = values[i];
  __syncthreads();
  std::uint32_t of[4];
  if constexpr (Transposed)
    cuda::load_transposed(of, shared + 8 * place[lane]);
  else
    cuda::load_matrices(of, shared + 8 * place[lane]);
  for (int m = 0; m < 4; ++m) out[4 * lane + m] = of[m];
}

template <Precision P>
__global__ void multiply_add_kernel(const std::uint32_t* a, const std::uint32_t* b, float* c) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  std::uint32_t left[4];
  float sum[4];
  for (int i = 0; i < 4; ++i) {
    left[i] = a[4 * at + i];
    sum[i] = c[4 * at + i];
  }
  cuda::multiply_add<P>(sum, left, b[2 * at], b[2 * at + 1]);
  for (int i = 0; i < 4; ++i) c[4 * at + i] = sum[i];
}

}  // namespace

std::vector<float> run_exp2(const std::vector<float>& x) {
  return run_function<Function::exp2>(x);
}

std::vector<float> run_log2(const std::vector<float>& x) {
  return run_function<Function::log2>(x);
}

std::uint64_t run_wait(std::uint64_t least) {
  const OnDevice<std::uint64_t> waited(std::size_t{1});
  launch(wait_kernel, 1, 1, 0, least, waited.data());
  return waited.download().front();
}

template <Precision P>
std::vector<std::uint32_t> run_pack(const std::vector<float>& pairs) {
  const std::size_t count = pairs.size() / 2;
  const OnDevice<float> from(pairs);
  const OnDevice<std::uint32_t> to(count);
  launch(pack_kernel<P>, blocks_for(count), threads, 0, static_cast<const float*>(from.data()),
         static_cast<int>(count), to.data());
  return to.download();
}
template std::vector<std::uint32_t> run_pack<Precision::bf16>(const std::vector<float>&);
template std::vector<std::uint32_t> run_pack<Precision::fp16>(const std::vector<float>&);

std::vector<float> run_unpack(const std::vector<std::uint32_t>& pairs) {
  const OnDevice<std::uint32_t> from(pairs);
  const OnDevice<float> to(2 * pairs.size());
  launch(unpack_kernel, blocks_for(pairs.size()), threads, 0,
         static_cast<const std::uint32_t*>(from.data()), static_cast<int>(pairs.size()), to.data());
  return to.download();
}

std::vector<std::uint32_t> run_copies(const Copies& copies) {
  const OnDevice<std::uint32_t> from(copies.from), to(copies.from.size());
  const OnDevice<int> valid(copies.valid);
  launch(copy_kernel, 1, copy_threads, copies.from.size() * sizeof(std::uint32_t),
         static_cast<const std::uint32_t*>(from.data()), static_cast<const int*>(valid.data()),
         to.data());
  return to.download();
}

std::vector<std::uint32_t> run_load(const Rows16Bits& rows, bool transposed) {
  const OnDevice<std::uint16_t> values(rows.values);
  const OnDevice<int> place(std::vector<int>(rows.place.begin(), rows.place.end()));
  const OnDevice<std::uint32_t> to(std::size_t{128});
  launch(transposed ? load_kernel<true> : load_kernel<false>, 1, 32,
         rows.values.size() * sizeof(std::uint16_t),
         static_cast<const std::uint16_t*>(values.data()), static_cast<int>(rows.values.size()),
         static_cast<const int*>(place.data()), to.data());
  return to.download();
}

template <Precision P>
std::vector<float> run_multiply_add(const Fragments& fragments) {
  const OnDevice<std::uint32_t> a(fragments.a), b(fragments.b);
  const OnDevice<float> c(fragments.c);
  const int warps = static_cast<int>(fragments.c.size() / 128);
  launch(multiply_add_kernel<P>, warps / 4, threads, 0, static_cast<const std::uint32_t*>(a.data()),
         static_cast<const std::uint32_t*>(b.data()), c.data());
  return c.download();
}
template std::vector<float> run_multiply_add<Precision::bf16>(const Fragments&);
template std::vector<float> run_multiply_add<Precision::fp16>(const Fragments&);

}  // namespace fovea::test
