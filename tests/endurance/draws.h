// Draws are the random choices of one action. They follow from the seed of the run and the number
// of the action alone, so that an action draws the same whatever those before it drew.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace fovea::test {

class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t action) {
    std::seed_seq mixed{seed, seed >> 32, action, action >> 32};
    engine_.seed(mixed);
  }

  /// 0 to count - 1; count is at least 1.
  int below(int count) { return int(engine_() % std::uint64_t(count)); }
  /// low to high, both included.
  int from_to(int low, int high) { return low + below(high - low + 1); }
  /// In [0, 1).
  double share() { return double(engine_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return share() < probability; }
  /// One of a list that is not empty.
  template <class List>
  decltype(auto) one_of(List&& list) {
    return *std::next(std::begin(list), below(int(std::size(list))));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fovea::test
