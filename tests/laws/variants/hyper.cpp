#include <map>

#include "laws/variants/hyper_theory.h"

namespace fovea::test {
namespace {

// W of one sub-problem: queries and keys at these tokens, orders of its depth, samples of its node.
struct HyperNode {
  IndexRange queries, keys;
  const std::int32_t *query_order, *key_order, *samples;
};

void hyper_weights(const HyperNode& node, Index block, Index m, Dense<double>& w) {
  std::map<Index, Index> query_block, key_block, times;
  for (Index p = node.queries.begin; p < node.queries.end; ++p)
    query_block[node.query_order[p]] = (p - node.queries.begin) / block;
  for (Index p = node.keys.begin; p < node.keys.end; ++p)
    key_block[node.key_order[p]] = (p - node.keys.begin) / block;
  for (Index t = 0; t < m; ++t) ++times[node.samples[t]];
  for (Index i = node.queries.begin; i < node.queries.end; ++i)
    for (Index j = node.keys.begin; j < node.keys.end; ++j) {
      const bool inside = block >= node.keys.size() || query_block.at(i) == key_block.at(j);
      w(i, j) = inside ? 1.0
                       : static_cast<double>(node.keys.size()) / static_cast<double>(m) *
                             static_cast<double>(times[j]);
    }
}

template <class Real>
Dense<Real> hyper(const Instance& x) {
  const Parameters p{x};
  const Structure& s = x.plan->structure;
  const Index n = x.problem.n(), block = p.integer("block"), shortest = p.integer("min_length");
  if (x.problem.causal ? n <= shortest || n == 1 || block >= n : n < shortest || block >= n)
    return weighted<Real>(x.problem, [](Index, Index) { return 1; });
  if (p.text("mode") == "theory") return hyper_theory(Real(), x);
  Dense<double> w(n);
  std::vector<IndexRange> segments{{0, n}};
  std::vector<std::pair<HyperNode, int>> nodes;
  if (!x.problem.causal)
    nodes.push_back({{{0, n},
                      {0, n},
                      s.integers("query_order").data(),
                      s.integers("key_order").data(),
                      nullptr},
                     0});
  for (int depth = 0; x.problem.causal && !segments.empty(); ++depth) {
    std::vector<IndexRange> next;
    for (const IndexRange segment : segments) {
      if (segment.size() <= std::max<Index>(shortest, 1)) {
        for (Index i = segment.begin; i < segment.end; ++i)
          for (Index j = segment.begin; j <= i; ++j) w(i, j) = 1;
        continue;
      }
      const Index middle = segment.begin + segment.size() / 2;
      nodes.push_back({{{middle, segment.end},
                        {segment.begin, middle},
                        s.integers("query_order").data() + depth * n,
                        s.integers("key_order").data() + depth * n,
                        nullptr},
                       depth});
      next.push_back({segment.begin, middle});
      next.push_back({middle, segment.end});
    }
    segments = next;
  }
  const Index m = static_cast<Index>(s.integers("sampled_keys").size() / nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    nodes[node].first.samples = s.integers("sampled_keys").data() + static_cast<Index>(node) * m;
    hyper_weights(nodes[node].first, block, m, w);
  }
  return weighted<Real>(x.problem, [&](Index i, Index j) { return w(i, j); });
}

// Caps and floor that act on some rows, on none, on all.
std::vector<Case> theory_cases() {
  std::vector<Case> cases;
  const auto add = [&](Settings settings) {
    settings.insert(settings.end(), {{"mode", "theory"}, {"min_length", "0"}});
    cases.push_back({.id = "hyper",
                     .settings = std::move(settings),
                     .rows_sum_to_one = false,
                     .random = true,
                     .has_causal_form = false});
  };
  add({{"block", "4"}, {"samples", "24"}, {"epsilon", "1.5"}, {"kappa", "3"}});
  add({{"block", "16"}, {"samples", "40"}, {"epsilon", "1000"}, {"kappa", "8"}});
  add({{"block", "1"}, {"samples", "1"}, {"projections", "1"}, {"epsilon", "0.1"}, {"kappa", "1"}});
  add({{"block", "100"}, {"samples", "9"}, {"projections", "5"}, {"kappa", "2"}});
  return cases;
}

}  // namespace

VariantLaws hyper_laws() {
  VariantLaws laws = laws_from(
      "hyper", [](auto real, const Instance& x) { return hyper<decltype(real)>(x); },
      {{.settings = {{"block", "4"}, {"samples", "6"}, {"projections", "3"}, {"min_length", "0"}},
        .random = true},
       {.settings = {{"block", "16"}, {"samples", "40"}, {"projections", "5"}, {"min_length", "8"}},
        .random = true},
       {.settings = {{"block", "1"}, {"samples", "1"}, {"projections", "1"}, {"min_length", "1"}},
        .random = true},
       {.settings = {}}});
  for (Case& c : theory_cases()) laws.cases.push_back(std::move(c));
  // Theory mode has no causal form, and these settings are tried with both masks.
  laws.exact_settings = {{{{"block", "63"}, {"min_length", "1"}}}, {{}}};
  return laws;
}

}  // namespace fovea::test
