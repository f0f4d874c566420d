// An emulated device of compute capability 9.0, and what its products of warpgroups are counted by.
#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <memory>

#include "backend/backend.h"
#include "products.h"  // of the emulation

namespace fovea::test {

/// With one multiprocessor query tiles are as high as they can be.
struct Hopper {
  explicit Hopper(int multiprocessors = 1) {
    emulation::set_compute_capability(9, 0);
    emulation::set_multiprocessors(multiprocessors);
  }
  Hopper(const Hopper&) = delete;
  Hopper& operator=(const Hopper&) = delete;
  ~Hopper() {
    emulation::set_compute_capability(8, 0);
    emulation::set_multiprocessors(2);
  }
};

inline std::unique_ptr<Backend> on_gpu(const char* precision, bool wgmma = true) {
  std::string why_not;
  auto made = make_cuda_backend({.precision = precision, .wgmma = wgmma}, &why_not);
  REQUIRE_MESSAGE(made, why_not);
  return made;
}

/// Products of warpgroups that `action` starts.
long products_of(const auto& action) {
  const long before = emulation::products_so_far();
  action();
  return emulation::products_so_far() - before;
}

}  // namespace fovea::test
