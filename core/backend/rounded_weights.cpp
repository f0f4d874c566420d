#include "backend/rounded_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "backend/entry_tiles.h"
#include "data/blocks.h"
#include "data/larger.h"

namespace fovea {
namespace {

/// rounded_to() of numbers from 0 to the format's largest. Adding 1.5 2^23 steps leaves no digits
/// below a step.
template <int fraction_bits, int least_exponent>
float nearest(float x) {
  constexpr int places = 23;  // of the fraction of a float
  constexpr float least = least_exponent < 0 ? 1.0F / (1 << -least_exponent) : 1 << least_exponent;
  constexpr float steps = 1.5F * (1 << (places - fraction_bits));
  const float power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7f800000U);
  const float shift = std::max(power, least) * steps;
  return (x + shift) - shift;
}

float nearest_e4m3(float x) {
  return nearest<3, -6>(x);
}
float nearest_e2m1(float x) {
  return nearest<1, 0>(std::min(x, 6.0F));
}

/// Weights that share a scale in E4M3.
void round_group(std::span<float> weights, float to_top, float from_top) {
  const float scale = nearest_e4m3(*std::ranges::max_element(weights) * to_top / 6);
  const float to_scale = scale > 0 ? to_top / scale : 0;
  for (float& weight : weights) weight = nearest_e2m1(weight * to_scale) * (scale * from_top);
}

/// Rows whose weights are held at a time: 16 MiB of them.
Index rows_together(Index keys) {
  constexpr Index most = 128, weights = Index{1} << 22;
  return std::clamp<Index>(weights / std::max<Index>(keys, 1), 1, most);
}

class RoundedWeightsOperator final : public Operator {
 public:
  RoundedWeightsOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
                         const Backend& backend, Product product, Run& run)
      : Operator(std::move(plan), problem),
        rounding_(*this->plan().rounded->weights),
        unrounded_(backend.bind(without_weight_rounding(this->plan()), problem, run)),
        product_(std::move(product)),
        largest_(this->plan().queries()),
        known_(largest_.size()) {}

 private:
  Output do_apply(MatrixView v, Run& run) const override {
    constexpr double summing = 0.4;  // the share of the work that finds the sums of rows
    Run sums = run.part(0, summing);
    Output out = unrounded_->apply({nullptr, v.rows, 0, 0}, sums);
    out.z = Matrix(plan().queries(), v.cols);
    const auto stage = run.profile.stage("attend");
    const Index queries = plan().queries(), together = rows_together(plan().keys());
    for (Index begin = 0; begin < queries; begin += together) {
      const auto done = [&](Index row) {
        return summing + (1 - summing) * as_double(row) / as_double(queries);
      };
      const IndexRange rows{begin, std::min(queries, begin + together)};
      Run part = run.part(done(rows.begin), done(rows.end));
      part.check();
      const Matrix z = product_(weights(rows, {0, plan().keys()}, part), v, part);
      for (Index r = 0; r < z.rows(); ++r) std::copy_n(z.row(r), v.cols, out.z.row(rows.begin + r));
    }
    return out;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const auto of = [&](IndexRange queries, IndexRange keys) {
      return weights(queries, keys, run);
    };
    return tile_of_entries(rows, cols, pool, of, run);
  }

  Matrix weights(IndexRange rows, IndexRange cols, Run& run) const {
    Run quiet = run.quiet();
    const Index share = std::max<Index>(rounding_.share, 1);
    const IndexRange whole{cols.begin / share * share,
                           std::min(plan().keys(), number_of_blocks(cols.end, share) * share)};
    Matrix p = unrounded_->tile(rows, whole, quiet);
    find_largest(rows, whole, p, quiet);
    for (Index r = 0; r < p.rows(); ++r)
      round_weights(rounding_, largest_[rows.begin + r],
                    {p.row(r), static_cast<std::size_t>(p.cols())});
    if (whole == cols) return p;
    Matrix out(rows.size(), cols.size());
    for (Index r = 0; r < out.rows(); ++r)
      std::copy_n(p.row(r) + (cols.begin - whole.begin), cols.size(), out.row(r));
    return out;
  }

  /// `p` has the weights of these rows in some columns.
  void find_largest(IndexRange rows, IndexRange cols, const Matrix& p, Run& run) const {
    const auto is_known = [&](Index i) { return known_[i]; };
    const auto keep = [&](Index i, float largest) {
      largest_[i] = largest;
      known_[i] = true;
    };
    const bool all = cols == IndexRange{0, plan().keys()};
    for (Index r = 0; all && r < p.rows(); ++r)
      keep(rows.begin + r, std::reduce(p.row(r), p.row(r) + p.cols(), 0.0F, larger_or_nan<float>));
    for (Index i = rows.begin; i < rows.end;) {
      IndexRange unknown{i, i};
      while (unknown.end < rows.end && !is_known(unknown.end)) ++unknown.end;
      if (unknown.size() > 0) {
        const Matrix found =
            unrounded_->tile(unknown, {0, plan().keys()},
                             {.kind = Pool::Kind::max, .rows = unknown.size(), .cols = 1}, run);
        for (Index r = 0; r < found.rows(); ++r) keep(unknown.begin + r, found(r, 0));
      }
      i = unknown.end + 1;
    }
  }

  const WeightRounding rounding_;
  std::unique_ptr<Operator> unrounded_;
  Product product_;
  // Found when first needed. (An Operator is used from one thread at a time.)
  mutable std::vector<float> largest_;  // [nq] the largest weight of each row
  mutable std::vector<bool> known_;     // [nq]
};

}  // namespace

std::shared_ptr<const Plan> without_weight_rounding(Plan plan) {
  RoundedHead head = *plan.rounded;
  head.weights.reset();
  plan.rounded = std::make_shared<const RoundedHead>(std::move(head));
  return std::make_shared<const Plan>(std::move(plan));
}

void round_weights(const WeightRounding& rounding, float largest, std::span<float> weights) {
  if (largest == 0) return;
  const auto top = static_cast<float>(rounding.top);
  const float to_top = top / largest, from_top = largest / top;
  if (rounding.share == 0) {
    for (float& weight : weights) weight = nearest_e4m3(weight * to_top) * from_top;
    return;
  }
  const auto share = static_cast<std::size_t>(rounding.share);
  for (std::size_t begin = 0; begin < weights.size(); begin += share)
    round_group(weights.subspan(begin, std::min(share, weights.size() - begin)), to_top, from_top);
}

std::unique_ptr<Operator> make_rounded_weights_operator(std::shared_ptr<const Plan> plan,
                                                        const Problem& problem,
                                                        const Backend& backend, Product product,
                                                        Run& run) {
  return std::make_unique<RoundedWeightsOperator>(std::move(plan), problem, backend,
                                                  std::move(product), run);
}

MemoryNeed rounded_weights_need(const Extents& extents) {
  const double rows = as_double(rows_together(extents.keys));
  return {.bound = (float_size + 0.125) * as_double(extents.queries),
          .applied = float_size * (2 * rows * as_double(extents.keys) +
                                   as_double(extents.queries) * as_double(extents.dv))};
}

}  // namespace fovea
