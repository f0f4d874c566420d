#include "analysis/leaf_skew.h"

#include <algorithm>
#include <limits>

#include "analysis/support.h"
#include "data/number_text.h"

namespace fovea {
namespace {

// The Gini coefficient: the mean absolute difference of all pairs, relative to twice the mean.
// Leaves that do not occur hold no tokens; they come first in the order of sizes and add nothing to
// the sum.
double gini(const std::vector<LeafCount>& counts, Index leaves) {
  std::vector<Index> sorted;
  for (const LeafCount& count : counts) sorted.push_back(count.tokens);
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(leaves);
  double place = leaves - static_cast<Index>(sorted.size());
  double weighted = 0, total = 0;
  for (const Index tokens : sorted) {
    weighted += (2 * place++ + 1 - count) * static_cast<double>(tokens);
    total += static_cast<double>(tokens);
  }
  return total > 0 ? weighted / (count * total) : 0.0;
}

SideSkew side_skew(const std::vector<LeafCount>& counts, Index leaves) {
  SideSkew skew{.gini = gini(counts, leaves),
                .empty_leaves = leaves - static_cast<Index>(counts.size())};
  double tokens = 0, squares = 0;
  for (const LeafCount& count : counts) {
    const auto size = static_cast<double>(count.tokens);
    tokens += size;
    squares += size * size;
    skew.largest_leaf = std::max(skew.largest_leaf, count.tokens);
  }
  skew.effective_leaves = tokens * tokens / squares;
  return skew;
}

}  // namespace

std::vector<LeafCount> count_leaves(std::span<const std::int32_t> leaf_of_token, Run& run) {
  run.check();
  std::vector<std::int32_t> sorted(leaf_of_token.begin(), leaf_of_token.end());
  std::ranges::sort(sorted);
  run.check();
  std::vector<LeafCount> counts;
  for (const std::int32_t leaf : sorted) {
    if (counts.empty() || counts.back().leaf != leaf) counts.push_back({leaf, 0});
    ++counts.back().tokens;
  }
  return counts;
}

LeafSkew leaf_skew(const Leaves& leaves, Run& run) {
  const auto queries = count_leaves(leaves.queries, run), keys = count_leaves(leaves.keys, run);
  LeafSkew skew{.queries = side_skew(queries, leaves.count), .keys = side_skew(keys, leaves.count)};
  double meetings = 0;
  auto key = keys.begin();
  for (const LeafCount& query : queries) {
    while (key != keys.end() && key->leaf < query.leaf) ++key;
    if (key != keys.end() && key->leaf == query.leaf)
      meetings += static_cast<double>(query.tokens) * static_cast<double>(key->tokens);
    else
      skew.queries_without_keys += query.tokens;
  }
  skew.chi = meetings /
             (static_cast<double>(leaves.queries.size()) * static_cast<double>(leaves.keys.size()));
  return skew;
}

std::vector<Diagnostic> skew_diagnostics(const LeafSkew& skew, const std::string& kind) {
  const std::string leaves = plural_of(kind);
  const std::string effective = "1 / Σ (share of a " + kind + ")²: as many " + leaves +
                                ", evenly filled, would be as balanced. At most the " + leaves +
                                " that hold one.";
  const std::string even = "0: evenly over the " + leaves + "; towards 1: all in one.";
  const auto count = [](Index tokens) { return static_cast<double>(tokens); };
  return {{"chi", "Collision fraction χ", skew.chi,
           "Share of all pairs whose query and key meet in a " + kind + ": Σ |Q||K| / (nq nk)."},
          {"effective_leaves_of_queries", "Effective " + leaves + ", queries",
           skew.queries.effective_leaves, effective},
          {"effective_leaves_of_keys", "Effective " + leaves + ", keys", skew.keys.effective_leaves,
           effective},
          {"gini_of_queries", "Gini coefficient, queries", skew.queries.gini, even},
          {"gini_of_keys", "Gini coefficient, keys", skew.keys.gini, even},
          {"queries_without_keys", "Queries without keys", count(skew.queries_without_keys),
           "Their " + kind + " holds no key that they may attend."},
          {"empty_leaves", "Empty " + leaves + ", keys", count(skew.keys.empty_leaves),
           "They hold no key."},
          {"leaves_without_queries", "Empty " + leaves + ", queries",
           count(skew.queries.empty_leaves), "They hold no query."},
          {"largest_leaf", "Largest " + kind + ", keys", count(skew.keys.largest_leaf),
           "Keys of the fullest " + kind + "."},
          {"effective_leaves", "1/χ", 1 / skew.chi,
           "As many " + leaves + ", evenly filled with queries and keys, would let as many pairs " +
               "meet. More than there are where keys avoid the queries' " + leaves + "."}};
}

LeafSkew leaf_skew(const Plan& plan, const Leaves& leaves, Run& run) {
  LeafSkew skew = leaf_skew(leaves, run);
  const Support support(plan);
  skew.queries_without_keys = 0;
  constexpr Index often = 512;
  for (Index i = 0; i < plan.queries(); ++i) {
    if (i % often == 0) run.check();
    skew.queries_without_keys += support.count(i) == 0;
  }
  return skew;
}

std::vector<Diagnostic> leaf_skew_figures(const Diagnosis& of, Run& run) {
  const auto leaves = leaves_of(of.approximate.plan());
  if (!leaves) return {};
  return skew_diagnostics(leaf_skew(of.approximate.plan(), *leaves, run), leaves->kind);
}

}  // namespace fovea
