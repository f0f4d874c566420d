#include "analysis/lost_keys.h"

#include <algorithm>

namespace fovea {
namespace {

double increase(const ChangedKey& key) {
  return static_cast<double>(key.approximate) - static_cast<double>(key.exact);
}

/// The first `most` of the keys, the largest of `sign` times the increase first.
std::vector<ChangedKey> first_of(std::vector<ChangedKey> keys, double sign, Index most) {
  const auto end = keys.begin() + std::clamp<Index>(most, 0, std::ssize(keys));
  std::partial_sort(keys.begin(), end, keys.end(),
                    [sign](const ChangedKey& a, const ChangedKey& b) {
                      const double x = sign * increase(a), y = sign * increase(b);
                      return x != y ? x > y : a.key < b.key;
                    });
  return {keys.begin(), end};
}

}  // namespace

LostKeys lost_keys(std::span<const float> exact, std::span<const float> approximate, Index most) {
  LostKeys all;
  for (Index j = 0; j < std::ssize(exact); ++j) {
    const ChangedKey key{j, exact[j], approximate[j]};
    if (increase(key) < 0) all.lost.push_back(key);
    if (increase(key) > 0) all.gained.push_back(key);
  }
  return {first_of(std::move(all.lost), -1, most), first_of(std::move(all.gained), 1, most)};
}

}  // namespace fovea
