// Back ends of tests of kernels besides backends(), which is CUDA's in fp32.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "backend/backends.h"

namespace fovea::test {

/// What kernels are compared with.
inline const Backend& cpu() {
  static const std::unique_ptr<Backend> made = make_cpu_backend();
  return *made;
}

/// CUDA's, in a precision that the device must have.
inline std::unique_ptr<Backend> on_gpu(const std::string& precision, bool wgmma = true) {
  std::string why_not;
  auto made = make_cuda_backend({.precision = precision, .wgmma = wgmma}, &why_not);
  REQUIRE_MESSAGE(made, why_not);
  return made;
}

}  // namespace fovea::test
