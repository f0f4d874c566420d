// What the launchers of the conformance tests have in common.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace fovea::test {

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Device memory with a copy of `values`, or for `count` results.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) {
    require(
        cudaMemcpyAsync(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice, nullptr),
        "uploading");
    require(cudaStreamSynchronize(nullptr), "uploading");  // the values may end now
  }
  explicit OnDevice(std::size_t count) : count_(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), "allocating");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data_); }

  T* data() const { return data_; }
  std::vector<T> download() const {
    std::vector<T> out(count_);
    require(cudaMemcpyAsync(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, nullptr),
            "downloading");
    require(cudaStreamSynchronize(nullptr), "running a kernel");
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, int threads, std::size_t shared_bytes,
            Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  require(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a kernel");
}

}  // namespace fovea::test
