#include "data/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

bool is_usable(float x) {
  return std::abs(x) <= number_limit;
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
  problem.scale = scale > 0 ? scale : 1.0 / std::sqrt(problem.d());
  problem.causal = causal;
  problem.head = head;
  problem.owner = std::move(owner);
  return problem;
}

bool Problem::admits_any(Index i, std::span<const std::int32_t> keys) const {
  const Band near = band();
  const auto first = std::ranges::lower_bound(keys, i - near.hi),
             last = std::ranges::upper_bound(keys, i - near.lo);
  return mask ? std::any_of(first, last, [&](std::int32_t j) { return mask->admits(i, j); })
              : first < last;
}

double Problem::logit(Index i, Index j) const {
  double sum = 0;
  for (Index c = 0; c < d(); ++c)
    sum += static_cast<double>(q(i, c)) * static_cast<double>(k(j, c));
  sum *= scale;
  return rule ? rule->capped(sum) + rule->bias_of(i, j, keys()) : sum;
}

Problem prefix_of(const Problem& head, Index n) {
  Problem prefix = head;
  for (MatrixView Problem::*m : {&Problem::q, &Problem::k, &Problem::v})
    prefix.*m = (head.*m).slice({0, n});
  prefix.imported = nullptr;  // which are of all tokens
  if (head.mask) prefix.mask = std::make_shared<const PairMask>(head.mask->prefix(n, n));
  if (head.rule)
    prefix.rule =
        std::make_shared<const LogitRule>(head.rule->prefix(head.q.rows, head.k.rows, n, n));
  if (head.recurrence)
    prefix.recurrence = std::make_shared<const Recurrence>(head.recurrence->prefix(n));
  return prefix;
}

void require_usable_numbers(const Problem& problem, const std::string& where,
                            const std::stop_token& stop) {
  const auto check = [&](const char* name, MatrixView m) {
    for_each_row(m.rows, stop, [&](Index i) {
      for (Index c = 0; c < m.cols; ++c) {
        const float x = m(i, c);
        if (is_usable(x)) continue;
        std::ostringstream text;
        text << name << " of query head " << problem.head << ", position [" << i << "," << c
             << "] is ";
        if (std::isnan(x))
          text << "NaN";
        else if (std::isinf(x))
          text << (x > 0 ? "Inf" : "-Inf");
        else
          text << x;
        text << "; expected finite numbers of magnitude up to " << number_limit;
        throw InputError(where, text.str());
      }
    });
  };
  check("q", problem.q);
  check("k", problem.k);
  check("v", problem.v);
}

void replace_unusable_numbers(Matrix& m, const std::stop_token& stop) {
  for_each_row(m.rows(), stop, [&](Index i) {
    std::replace_if(
        m.row(i), m.row(i) + m.cols(), [](float x) { return !is_usable(x); },
        std::numeric_limits<float>::quiet_NaN());
  });
}

void require_usable_scale(const Problem& problem, const std::string& where,
                          const std::stop_token& stop) {
  double x = 0;  // the largest magnitude in q and k; no comparison with NaN is true
  for (const MatrixView m : {problem.q, problem.k})
    for_each_row(m.rows, stop, [&](Index i) {
      for (Index c = 0; c < m.cols; ++c) x = std::max(x, std::abs(double{m(i, c)}));
    });
  const double reach = problem.scale * std::max(1.0, static_cast<double>(problem.d()) * x * x);
  if (reach <= logit_limit) return;
  std::ostringstream text;
  text << "scale " << problem.scale << " is too large for d = " << problem.d()
       << " and numbers up to x = " << x << " in q and k: scale * max(1, d x^2) is " << reach
       << "; expected at most " << logit_limit;
  throw InputError(where, text.str());
}

}  // namespace fovea
