// The device for tests of warpgroups and of query tiles. Its compute capability and multiprocessors
// are chosen on the emulated device only. On a real one without products of warpgroups
// device_main.cpp leaves out the cases whose names hold "warpgroup".
#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "device/head_start.h"
#include "kernels/kernels_of.h"
#include "kernels/other_backends.h"
#ifndef FOVEA_ON_DEVICE
#include "products.h"  // of the emulation
#endif

namespace fovea::test {

/// How many multiprocessors the emulated device has.
class Multiprocessors {
 public:
#ifdef FOVEA_ON_DEVICE
  static constexpr bool are_chosen = false;
#else
  static constexpr bool are_chosen = true;
#endif
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

/// Whether the profile names products of warpgroups. On the emulated device, where they are
/// counted, some must also have been started since the last call.
inline bool by_warpgroups(const Profile& profile) {
  bool started = true;
#ifndef FOVEA_ON_DEVICE
  static long before = 0;
  const long now = emulation::products_so_far();
  started = now > std::exchange(before, now);
#endif
  return started && std::ranges::count(kernels_of(profile), "wgmma") > 0;
}

}  // namespace fovea::test
