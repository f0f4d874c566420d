// SpargeAttn: blocks of keys by the product of mean query and mean key. A mean stands for a block
// whose vectors are alike; blocks whose vectors are not are kept.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analysis/selected_recall.h"
#include "variants/block_map.h"
#include "variants/dot_products.h"

namespace fovea {
namespace {

struct SpargeParameters {
  Index query_block = 128, key_block = 64;
  double tau = 0.9, theta = 0.1;

  static std::vector<TypedField<SpargeParameters>> fields() {
    using P = SpargeParameters;
    auto query_block =
        size_field<P>("query_block", "Query block", "tokens", &P::query_block, 1, 131072,
                      "Queries of a block.", [](Index n) { return short_size(n / 2, 128); });
    auto key_block = size_field<P>("key_block", "Key block", "tokens", &P::key_block, 1, 131072,
                                   "Keys of a block. With key_block >= n the result is exact.",
                                   [](Index n) { return short_size(n / 4, 64); });
    key_block.field.worth_trying = try_sizes(key_block.field, 2, 1);
    auto tau = real_field<P>("tau", "Mass τ", "", &P::tau, 0, 1, Axis::linear,
                             "The share of the softmax of mean products up to which blocks are "
                             "kept, and at least one. With 1 the result is exact.");
    tau.field.worth_trying = [](Index) { return std::vector<Value>{0.9, 0.5}; };
    auto theta = real_field<P>("theta", "Likeness θ", "", &P::theta, -1, 1, Axis::linear,
                               "Blocks whose vectors have a mean cosine of at most this are kept. "
                               "With 1 the result is exact.");
    theta.field.worth_trying = [](Index) { return std::vector<Value>{0.1, -1.0}; };
    return {query_block, key_block, tau, theta};
  }
};

/// The mean of each block, and the mean cosine of its vectors with one another and themselves.
struct PooledBlocks {
  Matrix mean;                   // [blocks, d]
  std::vector<double> likeness;  // NaN if one vector is 0

  PooledBlocks(MatrixView x, KeyBlocks blocks) : mean(block_means(x, blocks)) {
    std::vector<double> units(static_cast<std::size_t>(x.cols));
    for (Index b = 0; b < blocks.count(); ++b) {
      std::ranges::fill(units, 0.0);
      const IndexRange tokens = blocks.tokens(b);
      for (Index i = tokens.begin; i < tokens.end; ++i) {
        const float* row = x.row(i);
        double squares = 0;
        for (Index c = 0; c < x.cols; ++c)
          squares += static_cast<double>(row[c]) * static_cast<double>(row[c]);
        for (std::size_t c = 0; c < units.size(); ++c)
          units[c] += static_cast<double>(row[c]) / std::sqrt(squares);
      }
      const auto count = static_cast<double>(tokens.size());
      likeness.push_back(std::inner_product(units.begin(), units.end(), units.begin(), 0.0) /
                         (count * count));
    }
  }
};

class SpargeChoice {
 public:
  SpargeChoice(const Problem& problem, const SpargeParameters& p)
      : problem_(problem),
        p_(p),
        queries_(problem.q, {problem.n(), p.query_block}),
        keys_(problem.k, {problem.n(), p.key_block}) {}

  void operator()(Index row, std::vector<std::int32_t>& blocks, std::span<float> scores) const {
    if (!alike(queries_, row)) return;
    std::vector<std::int32_t> kept, others;
    for (const std::int32_t b : blocks) (alike(keys_, b) ? others : kept).push_back(b);
    if (others.empty()) return;
    std::vector<double> products(scores.size()), share;
    dot_products(queries_.mean, {row, row + 1}, keys_.mean, {0, keys_.mean.rows()},
                 products.data());
    for (const std::int32_t b : others)
      share.push_back(problem_.scale * products[static_cast<std::size_t>(b)]);
    to_weights(share.data(), std::ssize(share));
    for (std::size_t b = 0; b < others.size(); ++b)
      scores[static_cast<std::size_t>(others[b])] = static_cast<float>(share[b]);
    std::vector<std::size_t> order(others.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return is_larger(share[a], share[b]); });
    double mass = 0;
    for (const std::size_t b : order) {
      mass += share[b];
      if (p_.tau < 1 && mass > p_.tau && b != order.front()) break;
      kept.push_back(others[b]);
    }
    std::ranges::sort(kept);
    blocks = std::move(kept);
  }

  /// What means, norms, sums of unit vectors and products of means take.
  double multiply_adds() const {
    const auto d = static_cast<double>(problem_.d());
    return 6 * static_cast<double>(problem_.n()) * d +
           d * static_cast<double>(queries_.mean.rows() * keys_.mean.rows());
  }

 private:
  bool alike(const PooledBlocks& side, Index block) const {
    return p_.theta < 1 && side.likeness[static_cast<std::size_t>(block)] > p_.theta;
  }

  const Problem& problem_;
  const SpargeParameters& p_;
  PooledBlocks queries_, keys_;
};

Plan plan_sparge(const Problem& problem, const SpargeParameters& p, Planning& planning) {
  const SpargeChoice choice(problem, p);
  return plan_block_map(problem,
                        {.queries = {problem.n(), p.query_block},
                         .keys = {problem.n(), p.key_block},
                         .choose = std::cref(choice),
                         .multiply_adds = choice.multiply_adds()},
                        planning);
}

}  // namespace

Variant sparge_variant() {
  return make_variant<SpargeParameters>(
      {.id = "sparge",
       .label = "SpargeAttn",
       .paper = "Zhang et al. 2025 (SpargeAttn), section 3.2, without its filter of warps and "
                "without INT8",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over B,  B: blocks of cosine ≤ θ and the largest of "
                  "softmax(s q̄·k̄), to τ",
       .summary = "Blocks by the product of mean query and mean key, and blocks of unlike vectors.",
       .mask = Mask::either,
       .group = Group::selectors,
       .quick = true,
       .structure = block_map_tensors("Softmax of the products of means; -inf where the head has "
                                      "no pair, or where the vectors "
                                      "of a block are not alike."),
       .diagnostics = {selection_figures}},
      plan_sparge);
}

}  // namespace fovea
