// KDEformer: blocks of a locality-sensitive sort, and keys sampled by the norms of their values.
#include <algorithm>
#include <cmath>

#include "analysis/leaf_skew.h"
#include "backend/largest_singular_value.h"
#include "data/error.h"
#include "variants/sampled_blocks.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct KdeParameters {
  Index block = 256, samples = 256;
  int projections = 7;

  static std::vector<TypedField<KdeParameters>> fields() {
    using P = KdeParameters;
    auto block = size_field<P>("block", "Block b", "tokens", &P::block, 1, 131072,
                               "Sorted queries and keys of a diagonal block. With block >= n the "
                               "result is exact.",
                               [](Index n) { return short_size(n, 256); });
    block.field.worth_trying = try_sizes(block.field, 4, 4);
    auto samples = size_field<P>(
        "samples", "Samples m", "keys", &P::samples, 1, 65536,
        "Keys drawn with replacement for all queries together, by the norms of their values.",
        [](Index n) { return short_size(n, 256); });
    samples.field.worth_trying = try_sizes(samples.field, 4, 4);
    return {block, samples,
            int_field("projections", "Projections r", "bits", &P::projections, 1, 30, Axis::linear,
                      "Random hyperplanes of the hash: 2^r buckets.")};
  }
};

// p_j proportional to |v_j| / |V|_2 + 1/n, of sum 1.
std::vector<double> probabilities(MatrixView v, Run& run) {
  const auto stage = run.profile.stage("sample");
  const double norm = largest_singular_value(v, run), n = static_cast<double>(v.rows);
  std::vector<double> p(static_cast<std::size_t>(v.rows), 1 / n);
  double sum = 0;
  for (Index j = 0; j < v.rows; ++j) {
    double squares = 0;
    for (Index c = 0; c < v.cols; ++c)
      squares += static_cast<double>(v(j, c)) * static_cast<double>(v(j, c));
    if (norm > 0) p[static_cast<std::size_t>(j)] += std::sqrt(squares) / norm;
    sum += p[static_cast<std::size_t>(j)];
  }
  for (double& x : p) x /= sum;
  return p;
}

Plan plan_kde(const Problem& problem, const KdeParameters& p, Planning& planning) {
  const Index n = problem.n();
  Plan plan{.lengths = {n, n}, .form = TilePlan{}};
  if (p.block >= n) {
    plan.notes.push_back("one block holds all tokens: computed exactly");
    std::get<TilePlan>(plan.form).passes.push_back({.tiles = {{{0, n}, {0, n}}}, .unit = "block"});
    return plan;
  }
  if (!problem.has_values())
    throw UsageError(std::string("KDEformer samples keys by the norms of their values, but ") +
                     no_values);
  plan_sampled_blocks(problem, {p.block, p.samples, p.projections}, {{{{0, n}, {0, n}}}},
                      probabilities(problem.v, planning.run), planning, plan);
  const double tokens = static_cast<double>(n), width = static_cast<double>(problem.dv());
  plan.planning_multiply_adds += tokens * width * (width + 1);  // V^T V, and the norms
  return plan;
}

}  // namespace

Variant kde_variant() {
  return make_variant<KdeParameters>(
      {.id = "kde",
       .label = "KDEformer",
       .paper = "Zandieh et al. 2023, with the sorted blocks of HyperAttention",
       .formula = "Pᵢⱼ = Wᵢⱼ exp(Sᵢⱼ) / Σⱼ Wᵢⱼ exp(Sᵢⱼ),  W = M + (1−M)·cⱼ/(m pⱼ),  "
                  "pⱼ ∝ |vⱼ|/|V|₂ + 1/n",
       .summary = "Blocks that hash alike, and keys sampled by the norms of their values.",
       .mask = Mask::bidirectional_only,
       .group = Group::baselines,
       .quick = true,
       .structure = sampled_blocks_tensors(),
       .diagnostics = {leaf_skew_figures}},
      plan_kde);
}

}  // namespace fovea
