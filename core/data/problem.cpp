#include "data/problem.h"

#include <array>
#include <cmath>
#include <utility>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {
namespace {

std::string shape(MatrixView m) {
  return "[" + std::to_string(m.rows) + "," + std::to_string(m.cols) + "]";
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

}  // namespace fovea
