#include "data/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {
namespace {

std::string shape(MatrixView m) {
  return "[" + std::to_string(m.rows) + "," + std::to_string(m.cols) + "]";
}

double norm_of(const Matrix& m, Index i) {
  double squares = 0;
  for (Index c = 0; c < m.cols(); ++c)
    squares += static_cast<double>(m(i, c)) * static_cast<double>(m(i, c));
  return std::sqrt(squares);
}

/// How many rows of q became NaN. Back ends compute with q.k and with the logit in units of log 2.
Index mark_out_of_range(Matrix& q, const Matrix& k, double scale, bool causal) {
  const double most = static_cast<double>(std::numeric_limits<float>::max()) /
                      std::max(1.0, scale * std::numbers::log2e);
  Index marked = 0, seen = 0;  // keys
  double of_keys = 0;
  for (Index i = 0; i < q.rows(); ++i) {
    for (const Index end = causal ? i + 1 + k.rows() - q.rows() : k.rows(); seen < end; ++seen)
      if (const double norm = norm_of(k, seen); std::isfinite(norm))
        of_keys = std::max(of_keys, norm);
    const double norm = norm_of(q, i);
    if (!std::isfinite(norm) || norm * of_keys <= most) continue;
    std::fill_n(q.row(i), q.cols(), std::numeric_limits<float>::quiet_NaN());
    ++marked;
  }
  return marked;
}

}  // namespace

Problem make_problem(Matrix q, Matrix k, Matrix v, double scale, bool causal, Index head) {
  const std::string found = "q is " + shape(q) + ", k is " + shape(k) + ", v is " + shape(v);
  if (q.rows() == 0 || k.rows() == 0 || q.cols() == 0)
    throw InputError("", found + "; expected n >= 1 and d >= 1");
  if (k.rows() != v.rows()) throw InputError("", found + "; expected as many keys as values");
  if (q.cols() != k.cols()) throw InputError("", found + "; expected the same d for q and k");
  if (!(scale > 0)) scale = 1.0 / std::sqrt(static_cast<double>(q.cols()));
  const Index out_of_range = mark_out_of_range(q, k, scale, causal);
  auto owner = std::make_shared<std::array<Matrix, 3>>(
      std::array<Matrix, 3>{std::move(q), std::move(k), std::move(v)});
  Problem problem{.q = (*owner)[0], .k = (*owner)[1], .v = (*owner)[2]};
  problem.scale = scale;
  problem.causal = causal;
  problem.head = head;
  problem.out_of_range = out_of_range;
  problem.owner = std::move(owner);
  return problem;
}

double Problem::logit(Index i, Index j) const {
  double sum = 0;
  for (Index c = 0; c < d(); ++c)
    sum += static_cast<double>(q(i, c)) * static_cast<double>(k(j, c));
  sum *= scale;
  return rule ? rule->capped(sum) + rule->bias_of(i, j, keys()) : sum;
}

void require_finite(const Problem& problem, const std::string& where, const std::stop_token& stop) {
  const auto check = [&](const char* name, MatrixView m) {
    for_each_row(m.rows, stop, [&](Index i) {
      for (Index c = 0; c < m.cols; ++c)
        if (!std::isfinite(m(i, c)))
          throw InputError(where, std::string(name) + " of query head " +
                                      std::to_string(problem.head) + ", position [" +
                                      std::to_string(i) + "," + std::to_string(c) + "] is " +
                                      (std::isnan(m(i, c)) ? "NaN"
                                       : m(i, c) > 0       ? "Inf"
                                                           : "-Inf") +
                                      "; expected finite numbers");
    });
  };
  check("q", problem.q);
  check("k", problem.k);
  check("v", problem.v);
}

}  // namespace fovea
