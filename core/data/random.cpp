#include "data/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

std::uint32_t Random::bits() {
  if (used_ == 4) {
    buffer_ =
        philox({static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
                static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
               {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    ++block_;
    used_ = 0;
  }
  return buffer_[used_++];
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

std::uint64_t Random::below(std::uint64_t count) {
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % count;
  for (;;) {
    const std::uint64_t high = bits(), x = (high << 32) | bits();
    if (x < limit) return x % count;
  }
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is never 0
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

// Number i is taken with probability (still needed) / (still left).
std::vector<std::int32_t> draw_subset(std::int64_t n, std::int64_t count, Random random) {
  std::vector<std::int32_t> subset;
  for (std::int64_t i = 0, needed = std::min(count, n); needed > 0; ++i)
    if (static_cast<std::int64_t>(random.below(n - i)) < needed) {
      subset.push_back(static_cast<std::int32_t>(i));
      --needed;
    }
  return subset;
}

}  // namespace fovea
