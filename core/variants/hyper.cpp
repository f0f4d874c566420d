// HyperAttention: blocks of a locality-sensitive sort, and uniformly sampled keys for all the rest.
#include <algorithm>

#include "analysis/leaf_skew.h"
#include "analysis/sampling_figures.h"
#include "data/error.h"
#include "variants/halving.h"
#include "variants/hyper_theory.h"

namespace fovea {
namespace {

enum class Mode { practical, theory };

struct HyperParameters {
  Index block = 256, samples = 256;
  int projections = 7;
  Index min_length = 4096;
  Mode mode = Mode::practical;
  double epsilon = 1, kappa = 100;

  static std::vector<TypedField<HyperParameters>> fields() {
    using P = HyperParameters;
    auto block = size_field<P>("block", "Block b", "tokens", &P::block, 1, 131072,
                               "Sorted queries and keys of a diagonal block. With block >= n the "
                               "result is exact.",
                               [](Index n) { return short_size(n, 256); });
    block.field.worth_trying = try_sizes(block.field, 4, 4);
    auto samples = size_field<P>(
        "samples", "Samples m", "keys", &P::samples, 1, 65536,
        "Keys drawn with replacement for all queries together, each counted n/m times.",
        [](Index n) { return short_size(n, 256); });
    samples.field.worth_trying = try_sizes(samples.field, 4, 4);
    auto epsilon = real_field(
        "epsilon", "Error ε", "", &P::epsilon, 1e-3, 1e3, Axis::log2,
        "A sampled entry counts at most ε² m / (n log n) times the sum of its row's block and τ/κ, "
        "τ being the largest sum outside the blocks of m rows.");
    auto kappa =
        real_field("kappa", "Row-sum ratio κ", "", &P::kappa, 1, 1e12, Axis::log2,
                   "How far sums outside the blocks are assumed to differ between rows. None "
                   "of them is estimated below τ/κ.");
    for (auto* of_theory : {&epsilon.field, &kappa.field})
      of_theory->only_with = {{"mode", "theory"}};
    return {
        block,
        samples,
        int_field("projections", "Projections r", "bits", &P::projections, 1, 30, Axis::linear,
                  "Random hyperplanes of the hash: 2^r buckets."),
        size_field<P>("min_length", "Exact below", "tokens", &P::min_length, 0, 1 << 20,
                      "Shorter sequences are computed exactly; under a causal mask halving stops "
                      "at this length.",
                      [](Index n) { return short_size(n, 4096); }),
        choice_field(
            "mode", "Mode", &P::mode, {"practical", "theory"},
            "Practical: one softmax of blocks and samples. Theory: the paper's algorithms 2 "
            "and 3, without a causal mask. Row sums are estimated, and keys are sampled by "
            "the norms of their values."),
        std::move(epsilon),
        std::move(kappa)};
  }
};

// Tiles on the diagonal, in sequence order.
Pass exact_pass(const std::vector<IndexRange>& segments, bool causal) {
  Pass pass{.unit = "block"};
  for (const IndexRange s : segments) pass.tiles.push_back({s, s, causal ? Band{.lo = 0} : Band{}});
  return pass;
}

Plan plan_hyper(const Problem& problem, const HyperParameters& p, Planning& planning) {
  const Index n = problem.n();
  const bool causal = problem.causal;
  if (causal && p.mode == Mode::theory)
    throw UsageError(
        "mode is 'theory', which has no causal form; expected mode = practical, or a head without "
        "a causal mask");
  if (p.mode == Mode::theory && (problem.window > 0 || problem.mask || problem.rule))
    throw UsageError(
        "mode is 'theory', which has no form with a window, a mask of pairs, a bias, a soft cap or "
        "a sink; expected mode = practical");
  Plan plan{.lengths = {n, n}, .causal = causal, .form = TilePlan{}};
  auto& passes = std::get<TilePlan>(plan.form).passes;
  const bool is_short = causal ? n <= std::max<Index>(p.min_length, 1) : n < p.min_length;
  if (is_short || p.block >= n) {
    plan.notes.push_back(
        std::string(is_short ? "not longer than “Exact below”" : "one block holds all tokens") +
        ": computed exactly");
    passes.push_back(exact_pass({{0, n}}, causal));
    return plan;
  }
  const SampledBlocks sizes{p.block, p.samples, p.projections};
  if (p.mode == Mode::theory) {
    if (!problem.has_values())
      throw UsageError(
          std::string("mode is 'theory', which samples keys by the norms of their values, but ") +
          no_values + "; expected mode = practical");
    plan_hyper_theory(problem, {sizes, p.epsilon, p.kappa}, planning, plan);
    return plan;
  }
  if (!causal) {
    plan_sampled_blocks(problem, sizes, {{{{0, n}, {0, n}}}}, {}, planning, plan);
    return plan;
  }
  Halving halving(n, p.min_length);
  passes.push_back(exact_pass(halving.leaves, true));
  plan_sampled_blocks(problem, sizes, std::move(halving.depths), {}, planning, plan);
  return plan;
}

// Figures of what is sorted and sampled: there is nothing to tell of what was computed exactly.
std::vector<Diagnostic> figures(const Diagnosis& of, Run& run) {
  if (!of.approximate.plan().structure.has("query_order")) return {};
  return sampling_figures(of, run);
}

std::vector<TensorField> tensors() {
  std::vector<TensorField> all = sampled_blocks_tensors();
  for (TensorField& field : hyper_theory_tensors()) all.push_back(std::move(field));
  return all;
}

}  // namespace

Variant hyper_variant() {
  return make_variant<HyperParameters>(
      {.id = "hyper",
       .label = "HyperAttention",
       .paper = "Han et al. 2023, definition 1 and algorithms 1-4 (practical variant, and theory)",
       .formula = "Pᵢⱼ = Wᵢⱼ exp(Sᵢⱼ) / Σⱼ Wᵢⱼ exp(Sᵢⱼ),  W = M + (1−M)·(n/m)·cⱼ;  "
                  "theory: Pᵢⱼ = cⱼ/(m pⱼ) exp(Sᵢⱼ) / dᵢ,  pⱼ = |vⱼ|²/‖V‖²",
       .summary = "Blocks of queries and keys that hash alike, and sampled keys for the rest.",
       .quick = true,
       .other_sums_with = "mode = theory",
       .structure = tensors(),
       .diagnostics = {leaf_skew_figures, figures}},
      plan_hyper);
}

}  // namespace fovea
