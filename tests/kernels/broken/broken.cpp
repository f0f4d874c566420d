// Kernels and uses of the device with one mistake each, chosen by the argument: does the emulated
// device report it? Built without and with each sanitizer; CTest checks the output. Without a
// mistake it prints "right". Here are mistakes within a block.
#include "broken.h"

#include <csignal>
#include <cstdlib>
#include <map>

#include "ptx.h"

using namespace fovea;
using namespace fovea::broken;

namespace {

// Each thread reads the value of its neighbour, which another warp may have written.
template <bool WithBarrier>
__global__ void shift(const float* in, float* out) {
  __shared__ float shared[threads];
  const int t = static_cast<int>(threadIdx.x);
  shared[t] = in[t];
  if (WithBarrier) __syncthreads();
  out[t] = shared[(t + 1) % threads];
}

// The same within a warp, through memory.
template <bool WithBarrier>
__global__ void shift_in_warp(const float* in, float* out) {
  __shared__ float shared[threads];
  const int t = static_cast<int>(threadIdx.x);
  shared[t] = in[t];
  if (WithBarrier) __syncwarp();
  out[t] = shared[t / 32 * 32 + (t + 1) % 32];
}

__global__ void write_at(float* out, int at) {
  out[at + static_cast<int>(threadIdx.x)] = 1;
}

__global__ void read_at(const float* in, float* out, int at) {
  out[threadIdx.x] = in[at + static_cast<int>(threadIdx.x)];
}

__global__ void write_shared(float* out, int at) {
  float* shared = cuda::dynamic_shared<float>();
  shared[at + static_cast<int>(threadIdx.x)] = 1;
  out[threadIdx.x] = 1;
}

// Each thread reads what it has copied itself, before or after it waits.
template <bool Waits>
__global__ void copy(const float* in, float* out) {
  float* shared = cuda::dynamic_shared<float>();
  const int t = static_cast<int>(threadIdx.x);
  cuda::copy_16_async(shared + 4 * t, in + 4 * t, true);
  cuda::commit_copies();
  if (Waits) cuda::wait_copies<0>();
  out[t] = shared[4 * t];
  if (!Waits) cuda::wait_copies<0>();
}

// Reads what an earlier copy brought while the next one is under way to the same place.
template <bool Reads>
__global__ void copy_over(const float* in, float* out) {
  float* shared = cuda::dynamic_shared<float>();
  const int t = static_cast<int>(threadIdx.x);
  cuda::copy_16_async(shared + 4 * t, in + 4 * t, true);
  cuda::commit_copies();
  cuda::wait_copies<0>();
  const float first = shared[4 * t];
  cuda::copy_16_async(shared + 4 * t, in + 4 * t, true);
  cuda::commit_copies();
  out[t] = Reads ? shared[4 * t] : first;
  cuda::wait_copies<0>();
}

__global__ void copy_from(const float* in, float* out, int to, int from) {
  cuda::copy_16_async(cuda::dynamic_shared<float>() + to, in + from, true);
  cuda::commit_copies();
  cuda::wait_copies<0>();
  out[threadIdx.x] = 1;
}

// A shuffle passes a value, but does not order what lanes do in memory.
__global__ void shift_by_shuffle(const float* in, float* out) {
  __shared__ float shared[threads];
  const int t = static_cast<int>(threadIdx.x);
  shared[t] = in[t];
  const float same = __shfl_sync(0xffffffffu, in[t], t % 32);
  out[t] = same * shared[t / 32 * 32 + (t + 1) % 32];
}

// Nor does a vote.
__global__ void shift_by_vote(const float* in, float* out) {
  __shared__ float shared[threads];
  const int t = static_cast<int>(threadIdx.x);
  shared[t] = in[t];
  const bool all = __all_sync(0xffffffffu, in[t] == 1);
  out[t] = all ? shared[t / 32 * 32 + (t + 1) % 32] : 0;
}

// A quarter of a row of 16 bytes, as tensor cores get it.
__global__ void read_matrix(float* out, int from) {
  float* shared = cuda::dynamic_shared<float>();
  for (int i = static_cast<int>(threadIdx.x); i < 4 * threads; i += threads) shared[i] = 1;
  __syncthreads();
  std::uint32_t rows[4];
  cuda::load_matrices(rows, shared + from + 4 * (threadIdx.x % 32));
  out[threadIdx.x] = __uint_as_float(rows[0]);
}

__global__ void read_four(const float* in, float* out, int from) {
  out[threadIdx.x] = reinterpret_cast<const float4*>(in + from)[threadIdx.x % 32].x;
}

__global__ void never_wait(const float* in, float* out) {
  cuda::copy_16_async(cuda::dynamic_shared<float>(), in, true);
  cuda::commit_copies();
  out[threadIdx.x] = 0;
}

__global__ void half_at_barrier(float* out) {
  if (threadIdx.x < 32) __syncthreads();
  __syncwarp();
  if (threadIdx.x >= 32) __syncthreads();
  __syncthreads();
  if (threadIdx.x == 0) __syncwarp();  // the others of the warp continue
  out[threadIdx.x] = 0;
  __syncthreads();
}

Mistakes within_a_block() {
  const auto at = [](auto kernel, auto... more) {
    return [=](const Arrays& a) { run(1, kernel, a.in, a.out, more...); };
  };
  const auto to = [](auto kernel, auto... more) {
    return [=](const Arrays& a) { run(1, kernel, a.out, more...); };
  };
  return {{"barrier", at(shift<true>)},
          {"no-barrier", at(shift<false>)},
          {"warp-barrier", at(shift_in_warp<true>)},
          {"no-warp-barrier", at(shift_in_warp<false>)},
          {"write-behind", to(write_at, 1)},
          {"write-before", to(write_at, -1)},
          {"read-behind", at(read_at, 4 * threads - threads + 1)},
          {"write-behind-shared", to(write_shared, 4 * threads - threads + 1)},
          {"wait", at(copy<true>)},
          {"late-wait", at(copy<false>)},
          {"next-copy", at(copy_over<false>)},
          {"copy-over", at(copy_over<true>)},
          {"shared-not-aligned", at(copy_from, 1, 0)},
          {"global-not-aligned", at(copy_from, 0, 2)},
          {"matrix", to(read_matrix, 0)},
          {"matrix-not-aligned", to(read_matrix, 2)},
          {"four-not-aligned", at(read_four, 1)},
          {"shuffle-for-barrier", at(shift_by_shuffle)},
          {"vote-for-barrier", at(shift_by_vote)},
          {"never-wait", at(never_wait)},
          {"barrier-of-some", to(half_at_barrier)}};
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, [](int) { std::_Exit(EXIT_FAILURE); });  // a fault only ends the program
  Mistakes all = within_a_block();
  all.merge(between_blocks());
  all.merge(of_the_host());
  all.merge(of_arithmetic());
  const auto chosen = argc == 2 ? all.find(argv[1]) : all.end();
  if (chosen == all.end()) return EXIT_FAILURE;
  Arrays a;
  const std::vector<float> ones(4 * threads, 1.0f);
  cudaMalloc(reinterpret_cast<void**>(&a.in), 4 * threads * sizeof(float));
  cudaMalloc(reinterpret_cast<void**>(&a.out), threads * sizeof(float));
  cudaMemcpyAsync(a.in, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice, nullptr);
  chosen->second(a);
  cudaDeviceSynchronize();
  bool right = true;
  for (int t = 0; t < threads; ++t) right = right && a.out[t] == 1;
  cudaFree(a.in);
  cudaFree(a.out);
  std::puts(right ? "right" : "wrong");
}
