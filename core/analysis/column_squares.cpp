#include "analysis/column_squares.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fovea {
namespace {

Matrix reversed(MatrixView m) {
  Matrix out(m.rows, m.cols);
  for (Index i = 0; i < m.rows; ++i) std::copy_n(m.row(i), m.cols, out.row(m.rows - 1 - i));
  return out;
}

std::vector<std::int32_t> reversed(const std::vector<std::int32_t>& list) {
  return {list.rbegin(), list.rend()};
}

/// The pairs (j', i') of a mask's pairs (i, j), positions counted from the end.
PairMask exchanged(const PairMask& mask, const Run& run) {
  BitMatrix pairs;
  if (mask.has_pairs()) {
    const Index rows = mask.pairs().cols(), cols = mask.pairs().rows();
    pairs = BitMatrix(rows, cols);
    for (Index i = 0; i < cols; ++i) {
      run.check();
      for (Index j = 0; j < rows; ++j)
        if (mask.pairs()(i, j)) pairs.set(rows - 1 - j, cols - 1 - i);
    }
  }
  return {reversed(mask.key_document()), reversed(mask.query_document()), std::move(pairs)};
}

/// The rule under which the exchanged head has the logits 2 S_ij - 2 lse_i. What the rule adds to
/// all pairs of a key j is constant in a row of the exchanged head: column_squares() adds it
/// afterwards.
LogitRule exchanged(const LogitRule& rule, std::span<const float> lse, const Run& run) {
  const auto twice = [](std::vector<float> numbers) {
    for (float& x : numbers) x *= 2;
    return numbers;
  };
  LogitRule out{.soft_cap = 2 * rule.soft_cap,
                .by_distance = twice(rule.by_distance),  // i - j is j' - i'
                .by_key = {},
                .bias = {},
                .sink = {}};
  for (auto sum = lse.rbegin(); sum != lse.rend(); ++sum)
    out.by_key.push_back(std::isinf(*sum) ? 0 : -2 * *sum);  // infinite: a query without a key
  if (!rule.bias.empty()) {
    const Index keys = rule.bias.rows(), queries = rule.bias.cols();
    out.bias = Matrix(queries, keys);
    for (Index j = 0; j < keys; ++j) {
      run.check();
      for (Index i = 0; i < queries; ++i)
        out.bias(queries - 1 - i, keys - 1 - j) = 2 * rule.bias(j, i);
    }
  }
  return out;
}

/// Both sides are counted from the end, so that a causal mask and a window stay what they are.
Problem exchanged(const Problem& problem, std::span<const float> lse, const Run& run) {
  auto owner = std::make_shared<std::array<Matrix, 3>>(std::array<Matrix, 3>{
      reversed(problem.k), reversed(problem.q), Matrix(problem.queries(), 0)});
  Problem out = problem;
  out.q = (*owner)[0];
  out.k = (*owner)[1];
  out.v = (*owner)[2];
  out.scale = 2 * problem.scale;
  if (problem.mask) out.mask = std::make_shared<const PairMask>(exchanged(*problem.mask, run));
  out.rule = std::make_shared<const LogitRule>(
      exchanged(problem.rule ? *problem.rule : LogitRule{}, lse, run));
  out.owner = std::move(owner);
  return out;
}

}  // namespace

std::vector<float> log_sums_over(Plan pairs, const Problem& problem, const Backend& backend,
                                 Run& run) {
  Problem without_sink = problem;
  if (problem.rule && problem.rule->sink) {
    LogitRule rule = *problem.rule;
    rule.sink.reset();
    without_sink.rule = rule.empty() ? nullptr : std::make_shared<const LogitRule>(std::move(rule));
  }
  const auto op = backend.bind(std::make_shared<const Plan>(std::move(pairs)), without_sink, run);
  return op->apply(Matrix(problem.keys(), 0), run).lse;
}

std::vector<double> column_squares(const Problem& problem, std::span<const float> lse,
                                   const Backend& backend, Run& run) {
  const Index n = problem.n();
  run.check();
  const Problem head = exchanged(problem, lse, run);
  TilePlan all;
  all.passes.push_back({.tiles = {{{0, n}, {0, n}, head.band()}}});
  const std::vector<float> sums = log_sums_over({.lengths = {n, n},
                                                 .causal = head.causal,
                                                 .window = head.window,
                                                 .mask = head.mask,
                                                 .form = std::move(all)},
                                                head, backend, run);
  std::vector<double> squares;
  for (Index j = 0; j < n; ++j) {
    const double by_key = problem.rule && !problem.rule->by_key.empty()
                              ? static_cast<double>(problem.rule->by_key[j])
                              : 0;
    squares.push_back(std::exp(static_cast<double>(sums[n - 1 - j]) + 2 * by_key));
  }
  return squares;
}

}  // namespace fovea
