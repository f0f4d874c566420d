#include "backend/factored_operator.h"

#include <algorithm>
#include <cmath>

#include "backend/entry_tiles.h"

namespace fovea {
namespace {

constexpr Index most_weights = Index{1} << 24;  // of A, which are in memory together

double half_square_norm(const float* x, Index d, double scale) {
  double squares = 0;
  for (Index c = 0; c < d; ++c) squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
  return scale * squares / 2;
}

/// log (elu(x) + 1).
float log_elu(float x) {
  return std::log1p(std::max(x, 0.0f)) + std::min(x, 0.0f);
}

/// Vectors whose products are the logits of both softmaxes: log phi_r(x), without the term common
/// to all features of a query.
class LogFeatures {
 public:
  LogFeatures(const FeaturePlan& plan, const Problem& problem)
      : plan_(plan), problem_(problem), features_(plan.features(problem.d())) {}

  Index features() const { return features_; }
  Index tokens() const { return problem_.n(); }
  /// The number of positions of a plan that holds both tokens and features.
  Index positions() const { return std::max(features_, problem_.n()); }

  /// [positions, d + 1]. The last number meets |k^|^2 / 2 of a key, or log s_r of a feature.
  Matrix of_features(float last) const {
    Matrix out(positions(), problem_.d() + 1);
    for (Index r = 0; r < features_; ++r) {
      if (exponential())
        std::copy_n(plan_.directions.row(r), problem_.d(), out.row(r));
      else
        out(r, r) = 1;
      out(r, problem_.d()) = last;
    }
    return out;
  }
  Matrix of_keys() const {
    Matrix out = of_tokens(problem_.k);
    for (Index j = 0; exponential() && j < tokens(); ++j)
      out(j, problem_.d()) =
          static_cast<float>(half_square_norm(problem_.k.row(j), problem_.d(), problem_.scale));
    return out;
  }
  Matrix of_queries() const {
    Matrix out = of_tokens(problem_.q);
    for (Index i = 0; i < tokens(); ++i) out(i, problem_.d()) = 1;
    return out;
  }
  /// log of the factor that all features of a query have in common.
  double log_factor(Index query) const {
    if (!exponential()) return 0;
    return -half_square_norm(problem_.q.row(query), problem_.d(), problem_.scale) -
           std::log(features_);
  }

 private:
  bool exponential() const { return plan_.map == FeatureMap::exponential; }
  Matrix of_tokens(MatrixView x) const {
    const auto unit = static_cast<float>(std::sqrt(problem_.scale));
    Matrix out(positions(), problem_.d() + 1);
    for (Index i = 0; i < tokens(); ++i)
      for (Index c = 0; c < problem_.d(); ++c)
        out(i, c) = exponential() ? unit * x(i, c) : log_elu(x(i, c));
    return out;
  }

  const FeaturePlan& plan_;
  const Problem& problem_;
  Index features_;
};

/// One softmax of the first `rows` positions over the first `cols`.
std::unique_ptr<Operator> bind_softmax(Matrix queries, Matrix keys, Index rows, Index cols,
                                       const Backend& backend, Run& run) {
  const Index positions = queries.rows();
  Plan plan{.lengths = {positions, positions}, .form = TilePlan{}};
  std::get<TilePlan>(plan.form).passes = {{.tiles = {{{0, rows}, {0, cols}}}}};
  Matrix values(positions, 1);
  return backend.bind(
      std::make_shared<const Plan>(std::move(plan)),
      make_problem(std::move(queries), std::move(keys), std::move(values), 1.0, false), run);
}

Matrix padded(MatrixView v, Index rows) {
  Matrix out(rows, v.cols);
  for (Index i = 0; i < std::min(rows, v.rows); ++i) std::copy_n(v.row(i), v.cols, out.row(i));
  return out;
}

class FactoredOperator final : public Operator {
 public:
  FactoredOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const Backend& backend,
                   Product product, Run& run)
      : Operator(std::move(plan), problem),
        features_(std::get<FeaturePlan>(this->plan().form), this->problem()),
        product_(std::move(product)) {
    over_keys_ = bind_softmax(features_.of_features(-1), features_.of_keys(), features_.features(),
                              features_.tokens(), backend, run);
    const Output sums = over_keys_->apply(run);
    Matrix weighted = features_.of_features(0);
    for (Index r = 0; r < features_.features(); ++r) weighted(r, problem.d()) = sums.lse[r];
    over_features_ = bind_softmax(features_.of_queries(), std::move(weighted), features_.tokens(),
                                  features_.features(), backend, run);
  }

 private:
  Output do_apply(MatrixView v, Run& run) const override {
    Run first = run.part(0, 0.5), second = run.part(0.5, 1);
    const Matrix means = over_keys_->apply(padded(v, features_.positions()), first).z;
    const Output whole = over_features_->apply(means, second);
    Output out{padded(whole.z, features_.tokens()), {}};
    for (Index i = 0; i < features_.tokens(); ++i)
      out.lse.push_back(
          static_cast<float>(static_cast<double>(whole.lse[i]) + features_.log_factor(i)));
    return out;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const auto stage = run.profile.stage("entries");
    const IndexRange features{0, features_.features()};
    Run quiet = run.quiet();
    const ColumnEntries entries = [&](IndexRange some) -> RowEntries {
      auto keys = std::make_shared<const Matrix>(over_keys_->tile(features, some, quiet));
      return [&, features, keys = std::move(keys)](IndexRange queries) {
        return product_(over_features_->tile(queries, features, quiet), *keys, quiet);
      };
    };
    return tile_of_entries(rows, cols, pool, std::max<Index>(1, most_weights / features.size()),
                           entries, run);
  }

  LogFeatures features_;
  Product product_;
  std::unique_ptr<Operator> over_keys_, over_features_;  // A and B
};

}  // namespace

std::unique_ptr<Operator> make_factored_operator(std::shared_ptr<const Plan> plan,
                                                 const Problem& problem, const Backend& backend,
                                                 Product product, Run& run) {
  return std::make_unique<FactoredOperator>(std::move(plan), problem, backend, std::move(product),
                                            run);
}

}  // namespace fovea
