// Devices that multiply by warpgroups, and devices of a number of multiprocessors. The emulated
// device is told what it is. A real one is as it is: device_main.cpp leaves out the cases whose
// names hold "warpgroup" where it has no products of warpgroups.
#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "device/head_start.h"
#include "kernels/kernels_of.h"

namespace fovea::test {

/// How many multiprocessors the emulated device has.
class Multiprocessors {
 public:
  explicit Multiprocessors([[maybe_unused]] int count) {
#ifndef FOVEA_ON_DEVICE
    emulation::set_multiprocessors(count);
#endif
  }
  Multiprocessors(const Multiprocessors&) = delete;
  Multiprocessors& operator=(const Multiprocessors&) = delete;
  ~Multiprocessors() {
#ifndef FOVEA_ON_DEVICE
    emulation::set_multiprocessors(2);
#endif
  }
};

/// The emulated device has compute capability 9.0, and profiles name the kernels that computed a
/// run. With one multiprocessor query tiles are as high as they can be.
class Hopper {
 public:
  explicit Hopper(int multiprocessors = 1) : multiprocessors_(multiprocessors) {
#ifndef FOVEA_ON_DEVICE
    emulation::set_compute_capability(9, 0);
#endif
  }
  Hopper(const Hopper&) = delete;
  Hopper& operator=(const Hopper&) = delete;
  ~Hopper() {
#ifndef FOVEA_ON_DEVICE
    emulation::set_compute_capability(8, 0);
#endif
  }

 private:
  const Multiprocessors multiprocessors_;
  const cuda::HeadStart ahead_{0.01};  // with one, profiles name kernels
};

inline std::unique_ptr<Backend> on_gpu(const char* precision, bool wgmma = true) {
  std::string why_not;
  auto made = make_cuda_backend({.precision = precision, .wgmma = wgmma}, &why_not);
  REQUIRE_MESSAGE(made, why_not);
  return made;
}

/// Whether products of warpgroups have computed all that the profile holds, or a part of it.
inline bool by_warpgroups(const Profile& profile) {
  return std::ranges::count(kernels_of(profile), "wgmma") > 0;
}

}  // namespace fovea::test
