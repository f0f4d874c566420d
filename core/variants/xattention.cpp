// XAttention: blocks of keys by the sums of their strided antidiagonals, as many as have a share of
// the row's estimated mass.
#include <algorithm>
#include <functional>
#include <numeric>

#include "analysis/selected_recall.h"
#include "data/error.h"
#include "variants/block_map.h"
#include "variants/dot_products.h"

namespace fovea {
namespace {

struct XAttentionParameters {
  Index block = 128, stride = 8;
  double tau = 0.9;

  static std::vector<TypedField<XAttentionParameters>> fields() {
    using P = XAttentionParameters;
    auto block = size_field<P>("block", "Block l", "tokens", &P::block, 1, 131072,
                               "Queries and keys of a block; a multiple of the stride. With block "
                               ">= n the result is exact.",
                               [](Index n) { return short_size(n / 2, 128); });
    block.field.followers = {"stride"};
    block.field.worth_trying = try_sizes(block.field, 8, 2);
    auto stride = size_field<P>(
        "stride", "Stride S", "tokens", &P::stride, 1, 131072,
        "Only each S-th diagonal of the logits is looked at: a product of S queries and S keys "
        "stands for S x S pairs.",
        [](Index n) { return std::clamp<Index>(short_size(n / 2, 128) / 4, 1, 8); });
    auto tau = real_field<P>("tau", "Mass τ", "", &P::tau, 0, 1, Axis::linear,
                             "The share of the estimated mass that a block of queries keeps at "
                             "least. With 1 the result is exact.");
    tau.field.worth_trying = [](Index) { return std::vector<Value>{0.9, 0.7, 0.95}; };
    return {block, stride, tau};
  }
};

// Rows of `stride` tokens one after another, in reverse order if `reversed`; tokens that do not
// exist are 0.
Matrix joined(MatrixView x, Index stride, bool reversed) {
  Matrix out((x.rows + stride - 1) / stride, stride * x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    const Index place = reversed ? stride - 1 - i % stride : i % stride;
    std::copy_n(x.row(i), x.cols, out.row(i / stride) + place * x.cols);
  }
  return out;
}

class XAttentionChoice {
 public:
  XAttentionChoice(const Problem& problem, const XAttentionParameters& p)
      : problem_(problem),
        p_(p),
        q_(joined(problem.q, p.stride, true)),
        k_(joined(problem.k, p.stride, false)) {}

  void operator()(Index row, std::vector<std::int32_t>& blocks, std::span<float> scores) const {
    const std::vector<double> share = shares(row, blocks);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      scores[static_cast<std::size_t>(blocks[b])] = static_cast<float>(share[b]);
    if (p_.tau >= 1) return;
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto forced = [&](std::size_t b) { return blocks[b] == 0 || blocks[b] == row; };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return forced(a) != forced(b) ? forced(a) : is_larger(share[a], share[b]);
    });
    std::vector<std::int32_t> kept;
    double mass = 0;
    for (const std::size_t b : order) {
      if (!forced(b) && mass >= p_.tau) break;
      kept.push_back(blocks[b]);
      mass += share[b];
    }
    std::ranges::sort(kept);
    blocks = std::move(kept);
  }

  /// What the products of strided queries and keys take.
  double multiply_adds() const {
    const auto groups = static_cast<double>(q_.rows());
    const double pairs = problem_.causal ? groups * (groups + 1) / 2 : groups * groups;
    return pairs * static_cast<double>(q_.cols());
  }

 private:
  // The share of each of these blocks in their estimated mass.
  std::vector<double> shares(Index row, const std::vector<std::int32_t>& blocks) const {
    const Index each = p_.block / p_.stride;
    const IndexRange rows{row * each, std::min((row + 1) * each, q_.rows())},
        cols{0, problem_.causal ? rows.end : k_.rows()};
    std::vector<double> weights(static_cast<std::size_t>(rows.size() * cols.size()));
    dot_products(q_, rows, k_, cols, weights.data());
    std::vector<double> share(blocks.size());
    for (Index r = 0; r < rows.size(); ++r) {
      double* its = weights.data() + r * cols.size();
      const Index end = problem_.causal ? rows.begin + r + 1 : cols.end;
      for (Index c = 0; c < end; ++c) its[c] *= problem_.scale / static_cast<double>(p_.stride);
      to_weights(its, end);
      for (std::size_t b = 0; b < blocks.size(); ++b)
        for (Index c = blocks[b] * each; c < std::min((blocks[b] + 1) * each, end); ++c)
          share[b] += its[c];
    }
    const double all = std::accumulate(share.begin(), share.end(), 0.0);
    for (double& x : share) x = all > 0 ? x / all : 0;
    return share;
  }

  const Problem& problem_;
  const XAttentionParameters& p_;
  Matrix q_, k_;  // [groups of tokens, S d]
};

Plan plan_xattention(const Problem& problem, const XAttentionParameters& p, Planning& planning) {
  if (p.block % p.stride != 0)
    throw UsageError("block is " + std::to_string(p.block) + ", stride is " +
                     std::to_string(p.stride) + "; expected a multiple of stride");
  const XAttentionChoice choice(problem, p);
  const KeyBlocks blocks{problem.n(), p.block};
  return plan_block_map(problem,
                        {.queries = blocks,
                         .keys = blocks,
                         .choose = std::cref(choice),
                         .multiply_adds = choice.multiply_adds()},
                        planning);
}

}  // namespace

Variant xattention_variant() {
  return make_variant<XAttentionParameters>(
      {.id = "xattention",
       .label = "XAttention",
       .paper = "Xu et al. 2025, sections 2.1-2.2 and algorithm 1",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over B,  B: first, own and the largest blocks of "
                  "softmax((s/S) Σₜ q(RS+S−1−t)·k(CS+t)), to τ",
       .summary = "Blocks by the sums of strided antidiagonals of the logits.",
       .mask = Mask::either,
       .group = Group::selectors,
       .quick = true,
       .structure = block_map_tensors("Estimated share of a block's mass in that of its row; -inf "
                                      "where the head has no pair."),
       .diagnostics = {selection_figures}},
      plan_xattention);
}

}  // namespace fovea
