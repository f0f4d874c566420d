#include "analysis/leaf_skew.h"

#include <algorithm>
#include <limits>

namespace fovea {
namespace {

// Mean absolute difference of all pairs, relative to twice the mean.
double gini(std::span<const Index> sizes) {
  std::vector<Index> sorted(sizes.begin(), sizes.end());
  std::ranges::sort(sorted);
  double weighted = 0, total = 0;
  const double count = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    weighted += (2 * static_cast<double>(i) + 1 - count) * static_cast<double>(sorted[i]);
    total += static_cast<double>(sorted[i]);
  }
  return total > 0 ? weighted / (count * total) : 0.0;
}

}  // namespace

Index bucket_count(std::span<const std::int32_t> queries, std::span<const std::int32_t> keys) {
  Index count = 1;
  for (const auto& buckets : {queries, keys})
    for (const std::int32_t bucket : buckets)
      while (count <= bucket) count *= 2;
  return count;
}

std::vector<Index> sizes_of(std::span<const std::int32_t> leaf, Index count) {
  std::vector<Index> sizes(static_cast<std::size_t>(count));
  for (const std::int32_t l : leaf) {
    const auto place = static_cast<std::size_t>(l);
    if (place >= sizes.size()) sizes.resize(place + 1);
    ++sizes[place];
  }
  return sizes;
}

LeafSkew leaf_skew(std::span<const Index> queries, std::span<const Index> keys) {
  LeafSkew skew;
  double meetings = 0, query_count = 0, key_count = 0;
  for (std::size_t leaf = 0; leaf < keys.size(); ++leaf) {
    meetings += static_cast<double>(queries[leaf]) * static_cast<double>(keys[leaf]);
    query_count += static_cast<double>(queries[leaf]);
    key_count += static_cast<double>(keys[leaf]);
    skew.largest_leaf = std::max(skew.largest_leaf, keys[leaf]);
    if (keys[leaf] > 0) continue;
    ++skew.empty_leaves;
    skew.queries_without_keys += queries[leaf];
  }
  skew.chi = meetings / (query_count * key_count);
  skew.effective_leaves = skew.chi > 0 ? 1 / skew.chi : std::numeric_limits<double>::infinity();
  skew.gini = gini(keys);
  return skew;
}

std::vector<Diagnostic> skew_diagnostics(const LeafSkew& skew, const std::string& kind) {
  const std::string leaves = kind == "leaf" ? "leaves" : kind + "s";
  return {{"chi", "Collision fraction χ", skew.chi,
           "Share of the pairs of query and key that meet in a " + kind + ": Σ |Q||K| / n²."},
          {"effective_leaves", "Effective " + leaves, skew.effective_leaves,
           "1/χ: as many balanced " + leaves + " would cost the same."},
          {"gini", "Gini coefficient", skew.gini,
           "Of the keys over the " + leaves + ": 0 is even, near 1 all in one."},
          {"empty_leaves", "Empty " + leaves, static_cast<double>(skew.empty_leaves),
           "They hold no key."},
          {"queries_without_keys", "Queries without keys",
           static_cast<double>(skew.queries_without_keys), "Their " + kind + " holds no key."},
          {"largest_leaf", "Largest " + kind, static_cast<double>(skew.largest_leaf),
           "Keys in the fullest " + kind + "."}};
}

}  // namespace fovea
