// Mistakes of a host, which runs ahead of the device.
#include <memory>

#include "broken.h"

namespace fovea::broken {
namespace {

constexpr std::size_t bytes = threads * sizeof(float);

__global__ void copy_values(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

void upload(float* to, const float* from, cudaStream_t stream = nullptr) {
  cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
}
void download(float* to, const float* from) {
  cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, nullptr);
}

void change_source(const Arrays& a, bool waits) {
  std::vector<float> ones(threads, 1.0f);
  upload(a.out, ones.data());
  if (waits) cudaStreamSynchronize(nullptr);
  ones[5] = 2;
  cudaStreamSynchronize(nullptr);
}

void free_source(const Arrays& a) {
  auto ones = std::make_unique<float[]>(threads);
  std::fill_n(ones.get(), threads, 1.0f);
  upload(a.out, ones.get());
  ones.reset();
  cudaStreamSynchronize(nullptr);
}

void read_result(const Arrays& a, bool waits) {
  std::vector<float> result(threads, 1.0f), seen;
  download(result.data(), a.in);
  if (waits) cudaStreamSynchronize(nullptr);
  seen = result;
  cudaStreamSynchronize(nullptr);
  upload(a.out, seen.data());
  cudaStreamSynchronize(nullptr);
}

void change_result(const Arrays& a) {
  std::vector<float> result(threads);
  download(result.data(), a.in);
  result[5] = 1;
  cudaStreamSynchronize(nullptr);
}

void time_kernel(const Arrays& a, bool waits) {
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, nullptr);
  run(1, copy_values, a.in, a.out);
  cudaEventRecord(end, nullptr);
  if (waits) cudaEventSynchronize(end);
  float milliseconds = 0;
  std::puts(cudaGetErrorString(cudaEventElapsedTime(&milliseconds, begin, end)));
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

// Two streams: the second one copies on what the first one uploads. The default stream waits for
// all others, and they wait for it.
void use_streams(const Arrays& a, bool waits) {
  const std::vector<float> ones(threads, 1.0f);
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  float* between = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&between), bytes);
  upload(between, ones.data(), first);
  if (waits) cudaMemsetAsync(a.out, 0, bytes, nullptr);
  run_on(second, 1, copy_values, between, a.out);
  cudaStreamSynchronize(second);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(between);
}

void copy_backwards(const Arrays& a) {
  std::vector<float> result(threads);
  std::puts(cudaGetErrorString(
      cudaMemcpyAsync(result.data(), a.in, bytes, cudaMemcpyHostToDevice, nullptr)));
}

}  // namespace

Mistakes of_the_host() {
  return {{"source-kept", [](const Arrays& a) { change_source(a, true); }},
          {"source-changed", [](const Arrays& a) { change_source(a, false); }},
          {"source-freed", free_source},
          {"result-waited-for", [](const Arrays& a) { read_result(a, true); }},
          {"result-read-early", [](const Arrays& a) { read_result(a, false); }},
          {"result-changed", change_result},
          {"event-waited-for", [](const Arrays& a) { time_kernel(a, true); }},
          {"event-read-early", [](const Arrays& a) { time_kernel(a, false); }},
          {"streams-in-order", [](const Arrays& a) { use_streams(a, true); }},
          {"streams-without-order", [](const Arrays& a) { use_streams(a, false); }},
          {"copy-backwards", copy_backwards}};
}

}  // namespace fovea::broken
