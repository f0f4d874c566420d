// A device that is older than tensor cores for 16-bit numbers with sums in fp32.
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
