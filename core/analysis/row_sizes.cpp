#include "analysis/row_sizes.h"

#include <cmath>
#include <numeric>

#include "analysis/support.h"

namespace fovea {
namespace {

/// Adds the share that each part has of their sum.
void add_shares(const std::vector<double>& parts, std::vector<double>& to) {
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (all > 0 && std::isfinite(all))
    for (std::size_t i = 0; i < parts.size(); ++i) to[i] += parts[i] / all;
}

/// Squares of the relative differences of the row sums of exp, at most 1 each: log-sum-exps differ
/// if weights do. Empty if one of both has no log-sum-exps.
std::vector<double> differences_of_sums(const Output& approximate, const Output& exact) {
  std::vector<double> squares;
  for (std::size_t i = 0; i < approximate.lse.size() && !exact.lse.empty(); ++i) {
    const double gap = std::abs(static_cast<double>(approximate.lse[i]) -
                                static_cast<double>(exact.lse[i]));  // NaN: nothing to compare
    const double difference = gap > row_sum_rounding ? -std::expm1(-gap) : 0;
    squares.push_back(difference * difference);
  }
  return squares;
}

/// |z_i - mean of z|² of rows that have keys. The mean is left out, since what all outputs share
/// says nothing about the weights.
std::vector<double> square_deviations(const Output& exact, const Plan& plan) {
  std::vector<double> mean(exact.z.cols()), squares;
  const auto has_keys = [&](Index i) {
    const bool finite = exact.lse.empty() || std::isfinite(exact.lse[i]);
    return finite && admissible_keys(plan, i) > 0;
  };
  double rows = 0;
  for (Index i = 0; i < exact.z.rows(); ++i) {
    if (!has_keys(i)) continue;
    ++rows;
    for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += exact.z.row(i)[c];
  }
  for (Index i = 0; i < exact.z.rows(); ++i) {
    double square = 0;
    for (std::size_t c = 0; has_keys(i) && c < mean.size(); ++c) {
      const double off = exact.z.row(i)[c] - mean[c] / rows;
      square += off * off;
    }
    squares.push_back(square);
  }
  return squares;
}

}  // namespace

std::vector<double> row_sizes(const Metrics& metrics, const Output& approximate,
                              const Output& exact, const Plan& plan) {
  std::vector<double> sizes(plan.queries());
  add_shares(differences_of_sums(approximate, exact), sizes);
  if (!metrics.of_outputs()) return sizes;
  add_shares(square_deviations(exact, plan), sizes);
  if (metrics.output_rel_fro > row_sum_rounding) {
    std::vector<double> errors;
    for (const float error : metrics.token_error) errors.push_back(std::pow(double{error}, 2));
    add_shares(errors, sizes);
  }
  return sizes;
}

}  // namespace fovea
