#include "data/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {
namespace {

std::string shape(MatrixView m) {
  return "[" + std::to_string(m.rows) + "," + std::to_string(m.cols) + "]";
}

double largest_magnitude(const float* row, Index count) {
  float largest = 0;
  for (Index c = 0; c < count; ++c) largest = std::max(largest, std::abs(row[c]));
  return largest;
}

/// The largest magnitude of each column.
std::vector<double> largest_of_columns(MatrixView m, const std::stop_token& stop) {
  std::vector<double> largest(static_cast<std::size_t>(m.cols));
  for_each_row(m.rows, stop, [&](Index i) {
    for (Index c = 0; c < m.cols; ++c) {
      double& of_column = largest[static_cast<std::size_t>(c)];
      of_column = std::max(of_column, std::abs(double{m(i, c)}));
    }
  });
  return largest;
}

/// The keys whose products with some query may have magnitudes that sum to more than `most`: almost
/// always none.
std::vector<Index> keys_that_may_exceed(double most, const Problem& problem,
                                        const std::stop_token& stop) {
  const std::vector<double> queries = largest_of_columns(problem.q, stop);
  std::vector<Index> keys;
  for_each_row(problem.keys(), stop, [&](Index j) {
    double bound = 0;
    for (Index c = 0; c < problem.d(); ++c)
      bound += queries[static_cast<std::size_t>(c)] * std::abs(double{problem.k(j, c)});
    if (bound > most) keys.push_back(j);
  });
  return keys;
}

double magnitude_of_products(const Problem& problem, Index i, Index j) {
  double sum = 0;
  for (Index c = 0; c < problem.d(); ++c)
    sum += std::abs(double{problem.q(i, c)} * double{problem.k(j, c)});
  return sum;
}

bool sees_a_key(const Problem& problem, Index i) {
  for (Index j = 0; j < problem.keys(); ++j)
    if (problem.admits(i, j)) return true;
  return false;
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
  // Back ends compute q.k, and the logit in units of log 2, to which they may scale q first.
  constexpr double largest_float = std::numeric_limits<float>::max();
  const double most = largest_float / std::max(1.0, problem.scale * std::numbers::log2e);
  const auto refuse = [&](const auto&... words) {
    std::ostringstream found;
    ((found << "logits may leave the range of fp32: ") << ... << words)
        << "; expected at most " << most;
    throw InputError(where, found.str());
  };
  const Index d = problem.d();
  for_each_row(problem.queries(), stop, [&](Index i) {
    const double largest = largest_magnitude(problem.q.row(i), d);
    if (largest > most && sees_a_key(problem, i))
      refuse("q of query head ", problem.head, ", row ", i, ", holds magnitudes up to ", largest);
  });
  const std::vector<Index> keys = keys_that_may_exceed(most, problem, stop);
  if (keys.empty()) return;
  std::vector<double> largest_of_key;
  for (const Index j : keys) largest_of_key.push_back(largest_magnitude(problem.k.row(j), d));
  for (Index i = 0; i < problem.queries(); ++i) {
    check_stop(stop);
    double sum = 0;
    for (Index c = 0; c < d; ++c) sum += std::abs(double{problem.q(i, c)});
    for (std::size_t at = 0; at < keys.size(); ++at) {
      const Index j = keys[at];
      if (sum * largest_of_key[at] <= most || !problem.admits(i, j)) continue;
      if (const double products = magnitude_of_products(problem, i, j); products > most)
        refuse("the magnitudes of the products of q of query head ", problem.head, ", row ", i,
               ", and k, row ", j, ", sum to ", products);
    }
  }
}

}  // namespace fovea
