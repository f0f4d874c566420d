// A Band is a set of pairs that depends on the distance of query and key alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "data/matrix.h"

namespace fovea {

/// A pair (query i, key j) counts iff lo <= i - j <= hi. Causal is {0, unbounded}.
struct Band {
  static constexpr Index unbounded = std::numeric_limits<std::int32_t>::max();
  Index lo = -unbounded, hi = unbounded;

  bool contains(Index i, Index j) const { return lo <= i - j && i - j <= hi; }
  /// The keys that query i may attend, without regard to how many there are.
  IndexRange keys(Index i) const { return {i - hi, i - lo + 1}; }
  bool everything() const { return lo == -unbounded && hi == unbounded; }
  Band operator&(const Band& other) const {
    return {std::max(lo, other.lo), std::min(hi, other.hi)};
  }
  friend bool operator==(const Band&, const Band&) = default;
};

/// The pairs of query i, which is token t = i + offset of the keys' sequence: those with j <= t
/// if causal, and with j > t - window unless the window is 0.
constexpr Band band_of(bool causal, Index window, Index offset) {
  return {causal ? -offset : -Band::unbounded, window > 0 ? window - 1 - offset : Band::unbounded};
}

}  // namespace fovea
