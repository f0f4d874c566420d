#include "analysis/rounding_budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/recognition.h"
#include "data/larger.h"

namespace fovea {
namespace {

constexpr double fp32 = 0x1p-24;

double norm_of(MatrixView m, Index row) {
  double sum = 0;
  for (Index c = 0; c < m.cols; ++c)
    sum += static_cast<double>(m(row, c)) * static_cast<double>(m(row, c));
  return std::sqrt(sum);
}

double distance(MatrixView a, MatrixView b, Index row) {
  double sum = 0;
  for (Index c = 0; c < a.cols; ++c) {
    const double difference = static_cast<double>(a(row, c)) - static_cast<double>(b(row, c));
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

Diagnostic largest_lse_difference(const std::vector<float>& theirs,
                                  const std::vector<float>& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (theirs[i] == exact[i]) continue;  // both may be infinite
    const double apart = std::abs(static_cast<double>(theirs[i]) - static_cast<double>(exact[i]));
    largest = larger_or_nan(largest, apart);
  }
  return {.id = "lse_max_abs",
          .label = "Largest difference of a log-sum-exp",
          .value = std::isnan(largest) ? std::numeric_limits<double>::infinity() : largest,
          .meaning =
              "max over rows of |lse of the file − that of exact attention|: what a kernel "
              "divides its rows by."};
}

/// Bounds of the sum over j of |P_ij| |v_j| of a recurrence of which no step makes the state
/// larger.
std::vector<double> recurrent_spread(const Problem& problem) {
  const Recurrence& recurrence = *problem.recurrence;
  const Matrix &decays = recurrence.log_decay, &weights = recurrence.level_weights;
  std::vector<double> spread;
  double held = 0;
  for (Index i = 0; i < problem.queries(); ++i) {
    if (!decays.empty())
      held *= std::exp(double{*std::max_element(decays.row(i), decays.row(i) + decays.cols())});
    held += std::abs(double{recurrence.beta_of(i)}) * norm_of(problem.k, i) * norm_of(problem.v, i);
    double weight = weights.empty() ? 1 : 0;
    for (Index l = 0; l < weights.cols(); ++l)
      weight = std::max(weight, std::abs(double{weights(i, l)}));
    spread.push_back(problem.scale * norm_of(problem.q, i) * weight * held);
  }
  return spread;
}

/// The sum over j of |P_ij| |v_j| for each query.
std::vector<double> spread_of(const Operator& exact, Run& run) {
  const Problem& problem = exact.problem();
  if (problem.recurrence) return recurrent_spread(problem);
  Matrix norms(problem.keys(), 1);
  for (Index j = 0; j < problem.keys(); ++j)
    norms(j, 0) = static_cast<float>(norm_of(problem.v, j));
  const Matrix sums = exact.apply(norms, run).z;
  std::vector<double> spread;
  for (Index i = 0; i < sums.rows(); ++i) spread.push_back(double{sums(i, 0)});
  return spread;
}

}  // namespace

double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return 0x1p-8;
    case ElementType::f16:
      return 0x1p-11;
    case ElementType::f64:
      return 0x1p-53;
    default:
      return fp32;
  }
}

RoundingBudget::RoundingBudget(const Problem& problem, ElementType type)
    : problem_(problem), type_(type) {
  double all_norms = 0;
  for (Index j = 0; j < problem.keys(); ++j) {
    longest_key_ = std::max(longest_key_, norm_of(problem.k, j));
    all_norms += norm_of(problem.v, j);
  }
  const double smallest = type == ElementType::f16 ? 0x1p-25 : 0;
  const double width = std::sqrt(problem.dv());
  of_smallest_ =
      smallest * (all_norms + width) + 2 * static_cast<double>(problem.keys()) * width * 0x1p-149;
}

double RoundingBudget::of_weights(Index i) const {
  return relative(i, problem_.d(), problem_.keys());
}

double RoundingBudget::relative(Index i, double of_logit, double of_sum) const {
  const double logit = fp32 * problem_.scale * norm_of(problem_.q, i) * longest_key_;
  return 2 * unit_roundoff(type_) + 4 * of_logit * logit + 2 * of_sum * fp32;
}

double RoundingBudget::usual(Index i, double spread, double norm) const {
  return relative(i, 1, std::sqrt(problem_.keys())) * spread + unit_roundoff(type_) * norm +
         of_smallest_;
}

double RoundingBudget::operator()(Index i, double spread, double norm) const {
  return of_weights(i) * spread + unit_roundoff(type_) * norm + of_smallest_;
}

RoundingOfRows rounding_of_rows(const Operator& exact, const Output& exact_output, ElementType type,
                                Run& run) {
  const Problem& problem = exact.problem();
  const std::vector<double> spread = spread_of(exact, run);
  const RoundingBudget bound(problem, type);
  RoundingOfRows rows;
  for (Index i = 0; i < problem.queries(); ++i) {
    const double its = spread[i], norm = norm_of(exact_output.z, i);
    rows.most.push_back(static_cast<float>(bound(i, its, norm)));
    rows.usual.push_back(static_cast<float>(bound.usual(i, its, norm)));
  }
  return rows;
}

std::vector<float> rounding_budget(const Operator& exact, const Output& exact_output,
                                   ElementType type, Run& run) {
  return rounding_of_rows(exact, exact_output, type, run).most;
}

std::vector<Diagnostic> imported_figures(const Diagnosis& of, Run& run) {
  const auto* plan = of.approximate.plan().as<ImportedPlan>();
  if (!plan) return {};
  const ImportedResult& result = *plan->result;
  std::vector<Diagnostic> figures;
  if (!result.z.empty()) {
    const std::vector<float> budget = rounding_budget(of.exact, of.exact_output, result.type, run);
    const std::string type = to_text(result.type);
    Index beyond = 0;
    double largest = 0;
    for (Index i = 0; i < of.exact_output.z.rows(); ++i) {
      const double error = distance(of.approximate_output.z, of.exact_output.z, i);
      const double share = error == 0 ? 0 : error / static_cast<double>(budget[i]);
      beyond += !(share <= 1);
      largest = larger_or_nan(largest, share);
    }
    figures.push_back(
        {.id = "rows_beyond_rounding",
         .label = "Rows that rounding does not explain",
         .value = static_cast<double>(beyond),
         .meaning = "Queries whose |z̃ − z| is larger than rounding weights and output "
                    "to " +
                    type + ", and logits and sums to fp32, can make it."});
    figures.push_back(
        {.id = "largest_share_of_rounding",
         .label = "Largest error over what rounding explains",
         .value = std::isnan(largest) ? std::numeric_limits<double>::infinity() : largest,
         .meaning = "max over rows of |z̃ − z| over the bound of rounding to " + type +
                    ". Above 1 there is a mistake, or arithmetic of fewer bits."});
  }
  if (!result.lse.empty() && !of.exact_output.lse.empty())
    figures.push_back(largest_lse_difference(result.lse, of.exact_output.lse));
  for (std::string& sentence : recognise(of, run))
    figures.push_back(
        {.id = "finding", .label = "Finding", .meaning = "", .words = std::move(sentence)});
  return figures;
}

}  // namespace fovea
