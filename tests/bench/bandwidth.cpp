#include "bench/bandwidth.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "device/check.h"

namespace fovea::bench {
namespace {

constexpr std::size_t bytes = 64'000'000;
constexpr int repetitions = 4;

double gigabytes_per_second(void* to, const void* from, cudaMemcpyKind kind) {
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    cuda::check(cudaMemcpyAsync(to, from, bytes, kind, nullptr), "copying");
    cuda::check(cudaStreamSynchronize(nullptr), "waiting for a copy");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, 1e-9 * bytes / took.count());
  }
  return best;
}

void measure(const std::string& kind, void* host, void* device, std::map<std::string, double>& to) {
  to[kind + " up"] = gigabytes_per_second(device, host, cudaMemcpyHostToDevice);
  to[kind + " down"] = gigabytes_per_second(host, device, cudaMemcpyDeviceToHost);
}

}  // namespace

std::map<std::string, double> bandwidths() {
  std::map<std::string, double> found;
  void* memory = nullptr;
  cuda::check(cudaMalloc(&memory, bytes), "allocating memory");
  const std::unique_ptr<void, cudaError_t (*)(void*)> device(memory, cudaFree);
  std::vector<char> pageable(bytes, 1);  // written, so that its pages exist
  measure("pageable", pageable.data(), device.get(), found);
#ifdef CUDART_VERSION  // the emulated runtime pins nothing
  cuda::check(cudaMallocHost(&memory, bytes), "pinning memory");
  const std::unique_ptr<void, cudaError_t (*)(void*)> pinned(memory, cudaFreeHost);
  measure("pinned", pinned.get(), device.get(), found);
#endif
  return found;
}

}  // namespace fovea::bench
