// The Pace of a device is how many pairs of query and key it takes in a millisecond, as its last
// launches did, in each precision. Pairs count by their columns of K and V: one has 128. Any thread
// may ask and tell.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "device/precision.h"

namespace fovea::cuda {

class Pace {
 public:
  double pairs_in(double milliseconds, Precision precision) const {
    return milliseconds * of(precision).load();
  }

  /// A launch took that long. A short one is mostly overhead, so it may raise the pace but not
  /// lower it.
  void note(Precision precision, double pairs, double milliseconds) {
    constexpr double shortest = 1e-3;  // events tell no less
    const double pace = pairs / std::max(milliseconds, shortest);
    std::atomic<double>& its = of(precision);
    its = milliseconds < 1 ? std::max(pace, its.load()) : pace;
  }

 private:
  std::atomic<double>& of(Precision precision) {
    return pairs_per_ms_[static_cast<std::size_t>(precision)];
  }
  const std::atomic<double>& of(Precision precision) const {
    return pairs_per_ms_[static_cast<std::size_t>(precision)];
  }

  // At first that of the smallest devices, by Precision.
  std::array<std::atomic<double>, 4> pairs_per_ms_{2.5e6, 2.5e7, 2.5e7, 8e6};
};

}  // namespace fovea::cuda
