#include "variants/rounded_head.h"

#include <algorithm>
#include <cmath>

#include "data/memory.h"

namespace fovea {
namespace {

/// The matrices that a RoundedHead looks at.
struct OwnedHead {
  Matrix q, k, v;                    // empty if it is that of the head
  std::shared_ptr<const void> head;  // keeps the head's own alive
};

/// The mean of the finite numbers of each column.
std::vector<float> mean_row(MatrixView m, const Run& run) {
  std::vector<double> sums(static_cast<std::size_t>(m.cols)), counts(sums.size());
  for (Index i = 0; i < m.rows; ++i) {
    if (i % 1024 == 0) run.check();
    for (std::size_t c = 0; c < sums.size(); ++c)
      if (const float x = m(i, static_cast<Index>(c)); std::isfinite(x)) {
        sums[c] += static_cast<double>(x);
        ++counts[c];
      }
  }
  std::vector<float> mean;
  for (std::size_t c = 0; c < sums.size(); ++c)
    mean.push_back(static_cast<float>(sums[c] / std::max(counts[c], 1.0)));
  return mean;
}

Matrix without(MatrixView m, const std::vector<float>& mean, const Run& run) {
  Matrix out(m.rows, m.cols);
  for (Index i = 0; i < m.rows; ++i) {
    if (i % 1024 == 0) run.check();
    for (Index c = 0; c < m.cols; ++c) out(i, c) = m(i, c) - mean[static_cast<std::size_t>(c)];
  }
  return out;
}

float product(const float* x, const std::vector<float>& mean) {
  double sum = 0;
  for (std::size_t c = 0; c < mean.size(); ++c)
    sum += static_cast<double>(x[c]) * static_cast<double>(mean[c]);
  return static_cast<float>(sum);
}

/// Rounds the tensors of one head, one after another.
class HeadRounder {
 public:
  HeadRounder(const Problem& problem, Planning& planning)
      : problem_(problem), planning_(planning), owned_(std::make_shared<OwnedHead>()) {
    owned_->head = problem.owner;
  }

  void smooth() {
    mean_ = mean_row(problem_.k, planning_.run);
    centred_ = without(problem_.k, mean_, planning_.run);
  }
  void round_queries(const std::optional<RoundingRule>& rule) {
    if (rule)
      owned_->q = rounded("q", problem_.q, problem_.q, *rule, more_columns());
    else if (smooths())
      owned_->q = widened_queries();
    for (Index i = 0; smooths() && i < problem_.queries(); ++i)
      owned_->q(i, problem_.d()) = product(problem_.q.row(i), mean_);
  }
  void round_keys(const RoundingRule& rule) {
    owned_->k =
        rounded("k", smooths() ? centred_.view() : problem_.k, problem_.k, rule, more_columns());
    for (Index j = 0; smooths() && j < problem_.keys(); ++j) owned_->k(j, problem_.d()) = 1;
  }
  void round_values(const RoundingRule& rule) {
    owned_->v = rounded("v", problem_.v, problem_.v, rule, 0);
  }
  RoundedHead finish(const std::optional<WeightRounding>& weights) {
    const auto of = [](const Matrix& own, MatrixView given) {
      return own.empty() ? given : own.view();
    };
    return {.q = of(owned_->q, problem_.q),
            .k = of(owned_->k, problem_.k),
            .v = of(owned_->v, problem_.v),
            .tensors = std::move(tensors_),
            .weights = weights,
            .owner = owned_};
  }

 private:
  bool smooths() const { return !mean_.empty(); }
  Index more_columns() const { return smooths() ? 1 : 0; }

  Matrix widened_queries() const {
    Matrix out = Matrix::padded(problem_.queries(), problem_.d() + 1);
    for (Index i = 0; i < problem_.queries(); ++i)
      std::copy_n(problem_.q.row(i), problem_.d(), out.row(i));
    return out;
  }

  /// Rounds x, which is the tensor `given` of the head, or what smoothing makes of it.
  Matrix rounded(const char* name, MatrixView x, MatrixView given, const RoundingRule& rule,
                 Index more_cols) {
    RoundedTensor made = rounded_tensor(name, x, rule, frobenius_norm(given), more_cols, planning_);
    tensors_.push_back(std::move(made.rounding));
    return std::move(made.values);
  }

  const Problem& problem_;
  Planning& planning_;
  std::shared_ptr<OwnedHead> owned_;
  std::vector<TensorRounding> tensors_;
  std::vector<float> mean_;  // empty if keys are not smoothed
  Matrix centred_;
};

double bytes_of_rounded(const Problem& problem, const HeadRounding& rule) {
  const auto bytes = [](Index rows, Index cols) {
    return sizeof(float) * static_cast<double>(rows) * static_cast<double>(padded_width(cols));
  };
  const Index width = problem.d() + (rule.smooth_k ? 1 : 0);
  return (rule.q || rule.smooth_k ? bytes(problem.queries(), width) : 0) +
         bytes(problem.keys(), width) + (rule.v ? bytes(problem.keys(), problem.dv()) : 0);
}

}  // namespace

void round_head(Plan& plan, const Problem& problem, const HeadRounding& rule, Planning& planning) {
  const auto stage = planning.run.profile.stage("round");
  plan.planning_bytes = bytes_of_rounded(problem, rule);
  // Keys without their mean take at most as much again while the copy is made.
  require_memory(2 * plan.planning_bytes, "a rounded copy of " + problem.lengths().text(),
                 fewer_tokens);
  HeadRounder rounder(problem, planning);
  if (rule.smooth_k) rounder.smooth();
  rounder.round_queries(rule.q);
  rounder.round_keys(rule.k);
  if (rule.v && problem.has_values()) rounder.round_values(*rule.v);
  plan.rounded = std::make_shared<const RoundedHead>(rounder.finish(rule.weights));
}

}  // namespace fovea
