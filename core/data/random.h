// Random is a counter-based generator (Philox4x32-10, Salmon et al., SC 2011): the k-th number of a
// stream is a pure function of (seed, stream, k), so every back end sees the same draws.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fovea {

/// Ten rounds of Philox 4x32.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

class Random {
 public:
  /// Streams of one seed are independent. Each purpose has its own (data/draw_purpose.h).
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  std::uint32_t bits();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [0, count), without modulo bias.
  std::uint64_t below(std::uint64_t count);
  /// Standard normal (Box-Muller).
  double normal();

 private:
  std::uint64_t seed_, stream_, block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  int used_ = 4;
};

/// A uniform subset of the numbers below n, ascending: `count` of them, or all if there are fewer.
std::vector<std::int32_t> draw_subset(std::int64_t n, std::int64_t count, Random random);

}  // namespace fovea
