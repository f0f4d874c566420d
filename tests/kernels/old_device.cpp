// Devices that are too old: for tensor cores for 16-bit numbers with sums in fp32, or for the code
// that was built.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "backend/backend.h"

using namespace fovea;

TEST_CASE("precision: an old device offers only fp32, and the message says why") {
  std::string why_not;
  emulation::set_compute_capability(7, 5);
  CHECK(make_cuda_backend({}, &why_not) != nullptr);
  for (const char* name : {"bf16", "fp16"}) {
    why_not.clear();
    CHECK(make_cuda_backend({.precision = name}, &why_not) == nullptr);
    CHECK(why_not.find("compute capability 8.0") != std::string::npos);
  }
  emulation::set_compute_capability(8, 0);
}

TEST_CASE("a device that the kernels were not built for is absent, and the message says why") {
  std::string why_not;
  const std::size_t before = emulation::memory_in_use();
  emulation::reset_peak();
  for (const cudaError_t error :
       {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction}) {
    emulation::set_image(error);
    CHECK(make_cuda_backend({}, &why_not) == nullptr);
    CHECK_MESSAGE(
        why_not.find("compute capability 8.0; this program was built for") != std::string::npos,
        why_not);
    CHECK(why_not.find(cudaGetErrorString(error)) != std::string::npos);
  }
  emulation::set_image(cudaSuccess);
  CHECK(emulation::peak_memory() == before);
  CHECK(make_cuda_backend({}, &why_not) != nullptr);
}
