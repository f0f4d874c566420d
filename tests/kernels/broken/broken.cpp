// Kernels with one mistake each, chosen by the argument: does the emulated device report it? Built
// without and with each sanitizer; CTest checks the output. Without a mistake it prints "right".
#include <cuda_runtime.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ptx.h"

using namespace fovea;

namespace {

constexpr int threads = 64;

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

struct Arrays {
  float *in = nullptr, *out = nullptr;
};

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = 16 * threads;
  if (cudaLaunchKernelEx(&config, kernel, arguments...) != cudaSuccess) std::puts("not launched");
}

bool run_named(const std::string& name, const Arrays& a) {
  if (name == "barrier") return run(shift<true>, a.in, a.out), true;
  if (name == "no-barrier") return run(shift<false>, a.in, a.out), true;
  if (name == "warp-barrier") return run(shift_in_warp<true>, a.in, a.out), true;
  if (name == "no-warp-barrier") return run(shift_in_warp<false>, a.in, a.out), true;
  if (name == "write-behind") return run(write_at, a.out, 1), true;
  if (name == "write-before") return run(write_at, a.out, -1), true;
  if (name == "read-behind") return run(read_at, a.in, a.out, 4 * threads - threads + 1), true;
  if (name == "write-behind-shared")
    return run(write_shared, a.out, 4 * threads - threads + 1), true;
  if (name == "wait") return run(copy<true>, a.in, a.out), true;
  if (name == "late-wait") return run(copy<false>, a.in, a.out), true;
  if (name == "next-copy") return run(copy_over<false>, a.in, a.out), true;
  if (name == "copy-over") return run(copy_over<true>, a.in, a.out), true;
  if (name == "shared-not-aligned") return run(copy_from, a.in, a.out, 1, 0), true;
  if (name == "global-not-aligned") return run(copy_from, a.in, a.out, 0, 2), true;
  if (name == "shuffle-for-barrier") return run(shift_by_shuffle, a.in, a.out), true;
  if (name == "never-wait") return run(never_wait, a.in, a.out), true;
  if (name == "barrier-of-some") return run(half_at_barrier, a.out), true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, [](int) { std::_Exit(EXIT_FAILURE); });  // a fault only ends the program
  Arrays a;
  cudaMalloc(reinterpret_cast<void**>(&a.in), 4 * threads * sizeof(float));
  cudaMalloc(reinterpret_cast<void**>(&a.out), threads * sizeof(float));
  const std::vector<float> ones(4 * threads, 1.0f);
  cudaMemcpyAsync(a.in, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice, nullptr);
  if (argc != 2 || !run_named(argv[1], a)) return EXIT_FAILURE;
  bool right = true;
  for (int t = 0; t < threads; ++t) right = right && a.out[t] == 1;
  cudaFree(a.in);
  cudaFree(a.out);
  std::puts(right ? "right" : "wrong");
}
