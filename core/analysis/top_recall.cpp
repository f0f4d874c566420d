#include "analysis/top_recall.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace fovea {
namespace {

// The selections use bisection without branches. Those of std::nth_element cannot be predicted; it
// takes several times as long.

constexpr Index most = top_counts.back(), lanes = 16;  // lanes: of loops that become vectors

/// Bits of positive floats have the order of the floats, and comparing them is fast for denormal
/// ones too.
std::int32_t bits_of(float weight) {
  return std::bit_cast<std::int32_t>(weight);
}

/// A bound, at least `low`, that k of the numbers reach, and at most `more` others unless numbers
/// are equal; `low` if fewer than k reach `low`. `size` is a multiple of `lanes`.
std::int32_t bound_reached_by(const std::int32_t* numbers, Index size, Index k, Index more,
                              std::int32_t low) {
  std::int32_t high = bits_of(std::numeric_limits<float>::infinity()) + 1;
  for (Index reached = size; reached > k + more && high - low > 1;) {
    const std::int32_t middle = low + (high - low) / 2;
    int count = 0;
    for (Index i = 0; i < size; i += lanes)
      for (Index lane = 0; lane < lanes; ++lane) count += numbers[i + lane] >= middle;
    if (count >= k)
      low = middle, reached = count;
    else
      high = middle;
  }
  return low;
}

/// A weight that all keys of the top exceed, and few others: `most` of the largest weights of
/// disjoint sets of keys exceed it.
float below_the_top(std::span<const float> row) {
  constexpr Index sets = 2 * most;
  float largest[sets] = {};
  const float *weight = row.data(), *const end = weight + row.size();
  for (; end - weight >= sets; weight += sets)
    for (Index s = 0; s < sets; ++s) largest[s] = weight[s] > largest[s] ? weight[s] : largest[s];
  std::int32_t bits[sets];
  std::ranges::transform(largest, bits, bits_of);
  return std::bit_cast<float>(bound_reached_by(bits, sets, most, most / 8, 1) - 1);
}

/// The top `most` keys of a row, ascending, or fewer of them.
class Top {
 public:
  explicit Top(std::span<const float> row) {
    float above = below_the_top(row);
    bound_ = bits_of(above) + 1;
    for (Index begin = 0; begin < std::ssize(row); begin += lanes) {
      add(row, begin, above);
      if (size_ <= room - lanes) continue;
      keep_first(most);
      above = std::bit_cast<float>(bound_);  // later keys of this weight are not in the top
    }
    keep_first(most);
  }

  void keep_first(Index k) {
    if (size_ <= k) return;
    const Index padded = (size_ + lanes - 1) / lanes * lanes;
    std::fill(bits_ + size_, bits_ + padded, 0);
    bound_ = bound_reached_by(bits_, padded, k, 0, bound_);
    Index equal = k;  // number of keys on the bound that are in the top
    for (Index i = 0; i < size_; ++i) equal -= bits_[i] > bound_;
    Index kept = 0;
    for (Index i = 0; i < size_; ++i) {
      const bool on_bound = bits_[i] == bound_, keep = bits_[i] > bound_ || (on_bound && equal > 0);
      if (on_bound && keep) last_on_bound_ = keys_[i];
      equal -= on_bound;
      bits_[kept] = bits_[i];
      keys_[kept] = keys_[i];
      kept += keep;
    }
    size_ = kept;
  }

  std::span<const std::int32_t> keys() const { return {keys_, static_cast<std::size_t>(size_)}; }
  bool has(std::int32_t key, float weight) const {
    if (!(weight > 0)) return false;
    const std::int32_t bits = bits_of(weight);
    return bits > bound_ || (bits == bound_ && key <= last_on_bound_);
  }

 private:
  static constexpr Index room = 4 * most;

  /// Adds those of the `lanes` keys from `begin` on that exceed a weight.
  void add(std::span<const float> row, Index begin, float above) {
    const float* weight = row.data() + begin;
    const Index count = std::min(lanes, std::ssize(row) - begin);
    if (count == lanes) {
      int any = 0;
      for (Index j = 0; j < lanes; ++j) any |= weight[j] > above;
      if (any == 0) return;
    }
    Index size = size_;
    for (Index j = 0; j < count; ++j) {
      bits_[size] = bits_of(weight[j]);
      keys_[size] = static_cast<std::int32_t>(begin + j);
      size += weight[j] > above;
    }
    size_ = size;
  }

  // A key is in the top if its bits exceed the bound, or are on it up to this key.
  std::int32_t bound_, last_on_bound_ = std::numeric_limits<std::int32_t>::max();
  Index size_ = 0;
  std::int32_t bits_[room], keys_[room];
};

}  // namespace

TopRecall top_recall(std::span<const float> approximate, std::span<const float> exact) {
  Top of_exact(exact), of_approximate(approximate);
  TopRecall recall;
  recall.fill(std::numeric_limits<double>::quiet_NaN());
  if (of_exact.keys().empty()) return recall;
  for (std::size_t c = top_counts.size(); c-- > 0;) {
    of_exact.keep_first(top_counts[c]);
    const auto keys = of_exact.keys();
    of_approximate.keep_first(std::ssize(keys));
    Index found = 0;
    for (const std::int32_t key : keys) found += of_approximate.has(key, approximate[key]);
    recall[c] = static_cast<double>(found) / static_cast<double>(keys.size());
  }
  return recall;
}

}  // namespace fovea
