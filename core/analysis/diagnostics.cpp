#include "analysis/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/block_spread.h"
#include "analysis/hyper_figures.h"
#include "analysis/leaf_skew.h"
#include "analysis/reach.h"
#include "analysis/support.h"

namespace fovea {
namespace {

using Diagnostics = std::vector<Diagnostic>;

void add_skew(const Plan& plan, const Support& support, Diagnostics& out) {
  const Structure& s = plan.structure;
  const auto* nodes = std::get_if<NodePlan>(&plan.form);
  const bool leaves = nodes || !s.query_leaf.empty();
  const auto& queries = nodes ? nodes->query_leaf : leaves ? s.query_leaf : s.query_bucket;
  const auto& keys = nodes ? nodes->key_leaf : leaves ? s.key_leaf : s.key_bucket;
  if (queries.empty() || keys.empty()) return;
  Index count = 1;
  if (nodes)
    for (const int b : nodes->branching) count *= b;
  else if (leaves)
    count = s.tree.leaves();
  else
    count = bucket_count(queries, keys);
  std::vector<Index> query_sizes = sizes_of(queries, count), key_sizes = sizes_of(keys, count);
  const std::size_t both = std::max(query_sizes.size(), key_sizes.size());
  query_sizes.resize(both);
  key_sizes.resize(both);
  LeafSkew skew = leaf_skew(query_sizes, key_sizes);
  // A causal mask, or climbing to an ancestor, changes who finds a key.
  skew.queries_without_keys = 0;
  for (Index i = 0; i < plan.n; ++i) skew.queries_without_keys += support.count(i) == 0;
  for (Diagnostic& d : skew_diagnostics(skew, leaves ? "leaf" : "bucket"))
    out.push_back(std::move(d));
}

// As many as the passes go up.
void add_spread(const Plan& plan, const Problem& problem, Run& run, Diagnostics& out) {
  for (const BlockSpread& s : block_spread(plan, problem, run.stop))
    out.push_back({"block_spread_" + std::to_string(s.level),
                   "Logit spread σ, level " + std::to_string(s.level), s.deviation,
                   "Standard deviation of the fine logits in a coarse block: its mass is "
                   "under-estimated by about e^(σ²/2).",
                   true});
}

// Sets of keys that are neither sorted nor coarse: the factorized patterns.
bool is_factorized(const Plan& plan, const Support& support) {
  const auto* tiles = std::get_if<TilePlan>(&plan.form);
  const Structure& s = plan.structure;
  return tiles && s.query_order.empty() && s.query_leaf.empty() &&
         std::ranges::all_of(tiles->passes,
                             [](const Pass& p) { return p.key_level == 0 && p.weight.empty(); }) &&
         !support.complete();
}

void add_sets(const Plan& plan, const Support& support, Run& run, Diagnostics& out) {
  double sum = 0;
  Index largest = 0;
  for (Index i = 0; i < plan.n; ++i) {
    const Index size = support.count(i);
    sum += static_cast<double>(size);
    largest = std::max(largest, size);
  }
  const Reach reach = two_hop_reach(plan, run.stop);
  out.push_back(
      {"row_size_mean", "Keys a query, mean", sum / static_cast<double>(plan.n), "Mean |S_i|."});
  out.push_back(
      {"row_size_max", "Keys a query, most", static_cast<double>(largest), "Largest |S_i|."});
  out.push_back({"two_hop_reach", "Two-hop reach", reach.share,
                 "Share of the admissible pairs between which information travels in two layers.",
                 reach.sampled_rows > 0});
}

}  // namespace

std::vector<Diagnostic> diagnose(const Operator& approximate, const Output& approximate_output,
                                 const Operator& exact, const Output& exact_output, Run& run) {
  const Plan& plan = approximate.plan();
  const Support support(plan);
  Diagnostics out;
  add_skew(plan, support, out);
  if (is_hyper(plan))
    for (Diagnostic& d : hyper_figures(approximate, approximate_output, exact, exact_output, run))
      out.push_back(std::move(d));
  add_spread(plan, exact.problem(), run, out);
  if (is_factorized(plan, support)) add_sets(plan, support, run, out);
  return out;
}

}  // namespace fovea
