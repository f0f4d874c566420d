#include "data/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <utility>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {
namespace {

std::string shape(MatrixView m) {
  return "[" + std::to_string(m.rows) + "," + std::to_string(m.cols) + "]";
}

double largest_magnitude(MatrixView m, const std::stop_token& stop) {
  float largest = 0;
  for_each_row(m.rows, stop, [&](Index i) {
    for (Index c = 0; c < m.cols; ++c) largest = std::max(largest, std::abs(m(i, c)));
  });
  return largest;
}

double magnitude_of_products(const Problem& problem, Index i, Index j) {
  double sum = 0;
  for (Index c = 0; c < problem.d(); ++c)
    sum += std::abs(double(problem.q(i, c)) * double(problem.k(j, c)));
  return sum;
}

}  // namespace

Problem make_problem(Matrix q, Matrix k, Matrix v, double scale, bool causal, Index head) {
  const std::string found = "q is " + shape(q) + ", k is " + shape(k) + ", v is " + shape(v);
  if (q.rows() == 0 || k.rows() == 0 || q.cols() == 0)
    throw InputError("", found + "; expected n >= 1 and d >= 1");
  if (k.rows() != v.rows()) throw InputError("", found + "; expected as many keys as values");
  if (q.cols() != k.cols()) throw InputError("", found + "; expected the same d for q and k");
  auto owner = std::make_shared<std::array<Matrix, 3>>(
      std::array<Matrix, 3>{std::move(q), std::move(k), std::move(v)});
  Problem problem{.q = (*owner)[0], .k = (*owner)[1], .v = (*owner)[2]};
  problem.scale = scale > 0 ? scale : 1.0 / std::sqrt(static_cast<double>(problem.d()));
  problem.causal = causal;
  problem.head = head;
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

void require_in_range(const Problem& problem, const std::string& where,
                      const std::stop_token& stop) {
  // Back ends compute q.k, and the logit in units of log 2.
  constexpr double largest_float = std::numeric_limits<float>::max();
  const double most = largest_float / std::max(1.0, problem.scale * std::numbers::log2e);
  const double largest_key = largest_magnitude(problem.k, stop);
  if (largest_magnitude(problem.q, stop) * largest_key * double(problem.d()) <= most) return;
  for_each_row(problem.queries(), stop, [&](Index i) {
    double sum = 0;
    for (Index c = 0; c < problem.d(); ++c) sum += std::abs(double(problem.q(i, c)));
    if (sum * largest_key <= most) return;
    for_each_row(problem.keys(), stop, [&](Index j) {
      const double products = magnitude_of_products(problem, i, j);
      if (products <= most || !problem.admits(i, j)) return;
      std::ostringstream found;
      found << "logits beyond the range of fp32: the products of q of query head " << problem.head
            << ", row " << i << ", and k, row " << j << ", add up to " << products
            << "; expected at most " << most;
      throw InputError(where, found.str());
    });
  });
}

}  // namespace fovea
