// What the files of mistakes share: two arrays on the device, of which a mistake fills the second
// with ones if nothing goes wrong.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fovea::broken {

inline constexpr int threads = 64;  // of a block

struct Arrays {
  float *in = nullptr, *out = nullptr;  // 4 * threads ones; threads values
};

using Mistakes = std::map<std::string, std::function<void(const Arrays&)>>;
Mistakes between_blocks();
Mistakes of_the_host();
Mistakes of_arithmetic();

template <class... Parameters, class... Arguments>
void run_on(cudaStream_t stream, int blocks, void (*kernel)(Parameters...),
            Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = 16 * threads;
  config.stream = stream;
  if (cudaLaunchKernelEx(&config, kernel, arguments...) != cudaSuccess) std::puts("not launched");
}
template <class... Parameters, class... Arguments>
void run(int blocks, void (*kernel)(Parameters...), Arguments... arguments) {
  run_on(nullptr, blocks, kernel, arguments...);
}

}  // namespace fovea::broken
