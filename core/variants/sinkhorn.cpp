// Sinkhorn attention: each block attends itself, and a mixture of all blocks.
#include <algorithm>
#include <cmath>
#include <vector>

#include "data/memory.h"
#include "data/number_text.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct SinkhornParameters {
  Index block = 128;
  int iterations = 8;
  double temperature = 0.75;

  static std::vector<TypedField<SinkhornParameters>> fields() {
    using P = SinkhornParameters;
    auto block = size_field<P>("block", "Block b", "tokens", &P::block, 1, 131072,
                               "Tokens of a block. With block >= n the result is exact.",
                               [](Index n) { return short_size(n, 128); });
    block.field.worth_trying = try_sizes(block.field, 1);
    return {
        block,
        int_field("iterations", "Iterations", "", &P::iterations, 1, 1000, Axis::linear,
                  "Rounds in which rows and then columns of the mixtures are made to sum to 1."),
        real_field("temperature", "Temperature", "", &P::temperature, 0.01, 100, Axis::log2,
                   "What the logits of blocks are divided by: lower is nearer to a sort.")};
  }
};

using Wide = std::vector<double>;

class SinkhornPlanner {
 public:
  SinkhornPlanner(const Problem& problem, const SinkhornParameters& parameters, Planning& planning)
      : problem_(problem),
        p_(parameters),
        planning_(planning),
        block_(std::min(parameters.block, problem.n())),
        blocks_((problem.n() + block_ - 1) / block_) {}

  Plan plan() {
    const Index n = problem_.n(), d = problem_.d();
    // The mixtures: logarithms in double, then up to four copies in float.
    require_memory(24.0 * static_cast<double>(blocks_) * static_cast<double>(blocks_),
                   "mixtures of Sinkhorn of " + plural(blocks_, "block"),
                   std::string(fewer_tokens) + ", and so do larger blocks");
    Matrix r = mixtures();
    planning_.run.check();
    Matrix mix = with_ragged_rows(r);
    const Index positions = n + mix.rows() * block_;
    ProjectedPlan projected;
    projected.tiles.passes.push_back(tiles());
    projected.queries = Matrix::uninitialised(positions, d);
    projected.keys = Matrix::uninitialised(positions, d);
    projected.scale = problem_.scale;
    projected.own = n;
    projected.block = block_;
    projected.mix = std::move(mix);
    const auto stage = planning_.run.profile.stage("mix keys");
    Matrix blocks(blocks_, block_ * d);
    for (Index i = 0; i < n; ++i) {
      if (i % block_ == 0) planning_.run.check();
      projected.queries.write_row(i, problem_.q.row(i), d);
      projected.keys.write_row(i, problem_.k.row(i), d);
      std::copy_n(problem_.k.row(i), d, blocks.row(i / block_) + i % block_ * d);
    }
    const Matrix mixed = planning_.backend.product(projected.mix, blocks, planning_.run);
    for (Index b = 0; b < mixed.rows(); ++b) {
      planning_.run.check();
      for (Index place = 0; place < block_; ++place) {
        projected.queries.write_row(n + b * block_ + place, nullptr, 0);
        projected.keys.write_row(n + b * block_ + place, mixed.row(b) + place * d, d);
      }
    }
    Plan plan{.lengths = {n, n}, .form = {}};
    plan.structure.set({"block_mix",
                        {blocks_, blocks_},
                        std::vector<float>(r.data(), r.data() + blocks_ * blocks_)});
    plan.form = std::move(projected);
    const double b = static_cast<double>(blocks_), tokens = static_cast<double>(n),
                 mixed_rows = static_cast<double>(mixed.rows());
    plan.planning_multiply_adds = 2 * tokens * static_cast<double>(d) +
                                  b * b * static_cast<double>(d) + 2 * b * b * p_.iterations +
                                  mixed_rows * tokens * static_cast<double>(d);
    plan.fitted_to_all_tokens = true;
    return plan;
  }

 private:
  /// Places that the last block has.
  Index last_places() const { return problem_.n() - (blocks_ - 1) * block_; }
  bool ragged() const { return last_places() < block_; }

  // Places that the last block lacks are mixed from the others alone, with as much weight in all:
  // a second row of mixtures for each block, which is used at those places.
  Matrix with_ragged_rows(const Matrix& r) const {
    if (!ragged()) return Matrix::copy_of(r);
    Matrix mix(2 * blocks_, blocks_);
    for (Index row = 0; row < blocks_; ++row) {
      double all = 0, others = 0;
      for (Index col = 0; col < blocks_; ++col) {
        all += static_cast<double>(r(row, col));
        if (col < blocks_ - 1) others += static_cast<double>(r(row, col));
      }
      const double factor = others > 0 ? all / others : 0;
      for (Index col = 0; col < blocks_; ++col) {
        mix(row, col) = r(row, col);
        if (col < blocks_ - 1)
          mix(blocks_ + row, col) = static_cast<float>(factor * static_cast<double>(r(row, col)));
      }
    }
    return mix;
  }

  Index tokens_end(Index b) const { return std::min((b + 1) * block_, problem_.n()); }

  Pass tiles() const {
    Pass pass{.unit = "block"};
    for (Index b = 0; b < blocks_; ++b) {
      const IndexRange own{b * block_, tokens_end(b)};
      const Index first = problem_.n() + b * block_, of_others = first + blocks_ * block_;
      pass.tiles.push_back({own, own, {}});
      pass.tiles.push_back({own, {first, first + (ragged() ? last_places() : block_)}, {}});
      if (ragged())
        pass.tiles.push_back({own, {of_others + last_places(), of_others + block_}, {}});
    }
    return pass;
  }

  // R: exp of the logits of block means over the temperature, normalised in logarithms.
  Matrix mixtures() const {
    const auto stage = planning_.run.profile.stage("sinkhorn");
    Matrix mix(blocks_, blocks_);
    const auto& given = planning_.reals("block_mix", {"blocks", "blocks"}, {{"blocks", blocks_}});
    if (!given.empty()) {
      std::ranges::copy(given, mix.data());
      return mix;
    }
    const Wide q = means(problem_.q), k = means(problem_.k);
    const Index d = problem_.d();
    Wide logs(static_cast<std::size_t>(blocks_ * blocks_));
    planning_.backend.share_out(blocks_, planning_.run, [&](Index row) {
      for (Index col = 0; col < blocks_; ++col) {
        double sum = 0;
        for (Index c = 0; c < d; ++c) sum += q[place(row, c, d)] * k[place(col, c, d)];
        logs[place(row, col, blocks_)] = problem_.scale * sum / p_.temperature;
      }
    });
    for (int round = 0; round < p_.iterations; ++round) {  // S^k = F_c(F_r(S^(k-1)))
      normalise(logs, blocks_, 1);
      normalise(logs, 1, blocks_);
    }
    planning_.backend.share_out(blocks_, planning_.run, [&](Index row) {
      for (Index col = 0; col < blocks_; ++col)
        mix(row, col) = static_cast<float>(std::exp(logs[place(row, col, blocks_)]));
    });
    return mix;
  }

  static std::size_t place(Index row, Index col, Index width) {
    return static_cast<std::size_t>(row * width + col);
  }

  Wide means(MatrixView x) const {
    Wide mean(static_cast<std::size_t>(blocks_ * x.cols));
    planning_.backend.share_out(blocks_, planning_.run, [&](Index b) {
      for (Index i = b * block_; i < tokens_end(b); ++i)
        for (Index c = 0; c < x.cols; ++c)
          mean[place(b, c, x.cols)] +=
              static_cast<double>(x(i, c)) / static_cast<double>(tokens_end(b) - b * block_);
    });
    return mean;
  }

  // Makes the exp of all lines sum to 1; lines are `next` apart, their elements `step`.
  void normalise(Wide& logs, Index next, Index step) const {
    planning_.backend.share_out(blocks_, planning_.run, [&](Index line) {
      double* const at = logs.data() + line * next;
      double top = at[0], sum = 0;
      for (Index e = 1; e < blocks_; ++e) top = std::max(top, at[e * step]);
      for (Index e = 0; e < blocks_; ++e) sum += std::exp(at[e * step] - top);
      const double log_sum = top + std::log(sum);
      for (Index e = 0; e < blocks_; ++e) at[e * step] -= log_sum;
    });
  }

  const Problem& problem_;
  const SinkhornParameters& p_;
  Planning& planning_;
  Index block_, blocks_;
};

Plan plan_sinkhorn(const Problem& problem, const SinkhornParameters& p, Planning& planning) {
  return SinkhornPlanner(problem, p, planning).plan();
}

}  // namespace

Variant sinkhorn_variant() {
  return make_variant<SinkhornParameters>(
      {.id = "sinkhorn",
       .label = "Sinkhorn",
       .paper = "Tay et al. 2020 (Sparse Sinkhorn), section 3; logits of block means",
       .formula = "softmax over the own block and over blocks mixed by its row of R,  "
                  "R = Sinkhorn(exp(s q̄·k̄ / τ))",
       .summary = "The own block, and a mixture of all blocks of the same size.",
       .mask = Mask::bidirectional_only,
       .conditions = Conditions::none,
       .why_not_all = "it mixes blocks of keys before a query meets them",
       .group = Group::baselines,
       .quick = true,
       .rows_sum_to_one = false,
       .structure = {{.name = "block_mix",
                      .element = Element::real,
                      .shapes = {{"blocks", "blocks"}},
                      .meaning = "R: how much of each block is in the mixture that each block "
                                 "attends."}}},
      plan_sinkhorn);
}

}  // namespace fovea
