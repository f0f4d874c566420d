// NSA, native sparse attention: means of blocks, the blocks of the largest weights among them, and
// a window, each with a softmax of its own, added up with gates.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/number_text.h"
#include "variants/dot_products.h"
#include "variants/selected_blocks.h"

namespace fovea {
namespace {

constexpr Index branch_count = 3;  // compressed, selected, window
constexpr double always = 2;       // the score of blocks that no weight outdoes

struct NsaParameters {
  Index block = 64, blocks = 16, window = 512;

  static std::vector<TypedField<NsaParameters>> fields() {
    using P = NsaParameters;
    auto block = size_field<P>("block", "Block l", "tokens", &P::block, 1, 131072,
                               "Keys per block, a power of two: the compressed branch attends the "
                               "mean of each, the selected branch some of them whole.",
                               [](Index n) { return short_size(n / 2, 64); });
    block.field.worth_trying = try_sizes(block.field, 1, 2);
    auto window = size_field<P>("window", "Window w", "tokens", &P::window, 1, 1 << 20,
                                "Nearest keys that the window branch attends, the query's own "
                                "place included; without a causal mask on both sides.",
                                [](Index n) { return short_size(n, 512); });
    window.field.worth_trying = try_sizes(window.field, 2);
    return {block,
            blocks_field(&P::blocks,
                         "Blocks that the selected branch attends: the first, the query's own and "
                         "the one before it, then those of the largest weights."),
            window};
  }
};

class NsaPlanner {
 public:
  NsaPlanner(const Problem& problem, const NsaParameters& p, Planning& planning)
      : problem_(problem), p_(p), planning_(planning), blocks_{problem.keys(), p.block} {}

  Plan plan() {
    Plan plan = selected();
    std::vector<float> gates = given_or_even_gates(plan);
    GatedPlan gated{.branches = {}, .gates = Matrix(problem_.queries(), branch_count)};
    std::ranges::copy(gates, gated.gates.data());
    gated.branches.push_back(compressed());
    gated.branches.push_back(std::move(std::get<TilePlan>(plan.form)));
    gated.branches.push_back(window());
    plan.structure.set({"gates", {problem_.queries(), branch_count}, std::move(gates)});
    plan.form = std::move(gated);
    return plan;
  }

 private:
  Index place(Index query) const { return query + problem_.lengths().offset(); }

  // How many blocks the compressed branch attends: those that end at the query or before it, or all
  // without a causal mask.
  Index closed(Index query) const {
    return problem_.causal ? std::clamp<Index>((place(query) + 1) / p_.block, 0, blocks_.count())
                           : blocks_.count();
  }

  // Queries with the same closed blocks, against their means.
  TilePlan compressed() const {
    Pass pass{.key_level = std::countr_zero(static_cast<std::uint64_t>(p_.block)),
              .unit = "compressed block"};
    for (Index begin = 0, end = 0; begin < problem_.queries(); begin = end) {
      const Index count = closed(begin);
      for (end = begin + 1; end < problem_.queries() && closed(end) == count;) ++end;
      if (count > 0) pass.tiles.push_back({{begin, end}, {0, count}});
    }
    TilePlan branch;
    if (!pass.tiles.empty()) branch.passes.push_back(std::move(pass));
    return branch;
  }

  // By the weights of blocks in the compressed branch, in which each key has the logit of its
  // block's mean. Blocks that are always selected come first.
  Plan selected() const {
    const Matrix means = block_means(problem_.k, blocks_);
    const auto score = [&](IndexRange queries, IndexRange blocks, double* scores) {
      dot_products(problem_.q, queries, means, blocks, scores);
      for (Index i = queries.begin; i < queries.end; ++i) {
        double* its = scores + (i - queries.begin) * blocks.size();
        for (Index b = blocks.begin; b < blocks.end; ++b) {
          double& logit = its[b - blocks.begin];
          logit = b < closed(i) ? problem_.scale * logit +
                                      std::log(static_cast<double>(blocks_.tokens(b).size()))
                                : -std::numeric_limits<double>::infinity();
        }
        to_weights(its, blocks.size());
        const Index own = place(i) < 0 ? -1 : place(i) / p_.block;
        for (const Index b : {Index{0}, own - 1, own})
          if (blocks.contains(b)) its[b - blocks.begin] = always;
      }
    };
    Plan plan = plan_selected_blocks(problem_,
                                     {.size = p_.block,
                                      .blocks = p_.blocks,
                                      .score = score,
                                      .block_multiply_adds = static_cast<double>(problem_.d())},
                                     planning_);
    if (plan.planning_multiply_adds > 0)
      plan.planning_multiply_adds += static_cast<double>(problem_.keys() * problem_.d());
    plan.notes.clear();  // all blocks of one branch are not exact attention
    require_own_blocks(plan);
    std::vector<float> scores = plan.structure.reals("selected_scores");
    if (!scores.empty()) {
      for (float& number : scores) number = std::min(number, 1.0f);
      const Index most = std::ssize(scores) / problem_.queries();
      plan.structure.set({"selected_scores", {problem_.queries(), most}, std::move(scores)});
    }
    return plan;
  }

  // The compressed branch attends no key of the block that a query is in.
  void require_own_blocks(const Plan& plan) const {
    const auto& chosen = plan.structure.integers("selected_blocks");
    if (chosen.empty() || !problem_.causal) return;
    const Index most = std::ssize(chosen) / problem_.queries();
    for (Index i = 0; i < problem_.queries(); ++i) {
      const Index own = place(i) < 0 ? -1 : place(i) / p_.block;
      const auto its = std::span(chosen).subspan(static_cast<std::size_t>(i * most),
                                                 static_cast<std::size_t>(most));
      if (own >= closed(i) && std::ranges::find(its, own) == its.end())
        throw InputError("selected_blocks", "block " + std::to_string(own) +
                                                " is missing for query " + std::to_string(i) +
                                                "; expected the block that the query is in");
    }
  }

  TilePlan window() const {
    const Index offset = problem_.lengths().offset(), w = p_.window - 1;
    return {
        .passes = {{.tiles = {{{0, problem_.queries()},
                               {0, problem_.keys()},
                               {.lo = problem_.causal ? -offset : -w - offset, .hi = w - offset}}},
                    .unit = "window"}}};
  }

  std::vector<float> given_or_even_gates(Plan& plan) const {
    std::vector<float> gates =
        planning_.reals("gates", {"nq", "branches"}, {{"branches", branch_count}});
    for (std::size_t at = 0; at < gates.size(); ++at)
      if (!(gates[at] > 0))
        throw InputError("gates", format_exactly(static_cast<double>(gates[at])) + " for query " +
                                      std::to_string(at / branch_count) +
                                      "; expected a number above 0");
    if (!gates.empty()) return gates;
    plan.notes.push_back(
        "the gates of the model are not known: each branch has one third of the output");
    return std::vector<float>(static_cast<std::size_t>(problem_.queries() * branch_count),
                              1.0f / branch_count);
  }

  const Problem& problem_;
  const NsaParameters& p_;
  Planning& planning_;
  KeyBlocks blocks_;
};

Plan plan_nsa(const Problem& problem, const NsaParameters& p, Planning& planning) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(p.block)))
    throw UsageError("block is " + std::to_string(p.block) + "; expected a power of two");
  return NsaPlanner(problem, p, planning).plan();
}

std::vector<TensorField> nsa_tensors() {
  std::vector<TensorField> tensors = selected_block_tensors(
      "their weights in the compressed branch, or 1 if they are always selected");
  tensors.push_back({.name = "gates",
                     .element = Element::real,
                     .shapes = {{"nq", "branches"}},
                     .meaning = "The weights of the compressed, the selected and the window branch "
                                "for each query."});
  return tensors;
}

}  // namespace

Variant nsa_variant() {
  return make_variant<NsaParameters>(
      {.id = "nsa",
       .label = "NSA",
       .paper = "Yuan et al. 2025 (Native Sparse Attention), section 3, with means in place of the "
                "learned compression",
       .formula = "P = g₁ P¹ + g₂ P² + g₃ P³,  P¹ᵢⱼ = exp(s·qᵢ·k̄) / Σⱼ exp,  P²: blocks of "
                  "the largest P¹,  P³: |i − j| < w",
       .summary =
           "Means of all blocks, the blocks that they point to, and a window, mixed by gates.",
       .mask = Mask::causal_in_paper,
       .conditions = Conditions::none,
       .why_not_all = "its compressed branch attends means of blocks, not single keys",
       .unequal_lengths = UnequalLengths::all,
       .group = Group::selectors,
       .rows_sum_to_one = false,
       .structure = nsa_tensors()},
      plan_nsa);
}

}  // namespace fovea
