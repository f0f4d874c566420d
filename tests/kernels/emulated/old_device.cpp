// Devices that are too old: for tensor cores for 16-bit numbers with sums in fp32, or for the code
// that was built.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "backend/backends.h"

using namespace fovea;

TEST_CASE("precision: an old device offers only fp32, and the message says why") {
  std::string why_not;
  emulation::set_compute_capability(7, 5);
  CHECK(make_cuda_backend({}, &why_not) != nullptr);
  for (const char* name : {"bf16", "fp16", "fp32-split"}) {
    why_not.clear();
    CHECK(make_cuda_backend({.precision = name}, &why_not) == nullptr);
    CHECK(why_not.find("compute capability 8.0") != std::string::npos);
  }
  emulation::set_compute_capability(8, 0);
}

TEST_CASE("precision: split numbers are expected to be faster on GPUs for data centres alone") {
  std::string why_not;
  for (const auto& [major, minor, faster] : {std::tuple(7, 5, false),
                                             {8, 0, true},
                                             {8, 6, false},
                                             {8, 9, false},
                                             {9, 0, true},
                                             {12, 0, false}}) {
    emulation::set_compute_capability(major, minor);
    CHECK(find_cuda_device(&why_not)->split_is_faster == faster);
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
