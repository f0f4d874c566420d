// Heads with compressed entries, made as a file makes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "data/head_tensor.h"
#include "data/layer_conditions.h"
#include "harness.h"

namespace fovea::test {

struct CompressedHead {
  Index tokens = 0, queries = 0, size = 1;  // tokens of an entry; those left over have none
  bool causal = true;
  Index window = 0;
  std::optional<double> sink = {};
  std::vector<float> chosen = {};  // [queries, most] entries, -1 for none; all without it

  Index entries() const { return tokens / size; }
  /// What the head lets query i see, straight from the definition.
  bool sees(Index i, Index key) const {
    const Index t = tokens - queries + i, entry = key - tokens;
    if (entry < 0) return (!causal || key <= t) && (window == 0 || key > t - window);
    if (causal && (entry + 1) * size - 1 > t) return false;
    if (chosen.empty()) return true;
    const auto most = std::ssize(chosen) / queries;
    const auto* its = chosen.data() + i * most;
    return std::find(its, its + most, static_cast<float>(entry)) != its + most;
  }
  /// Entries are means of the keys and values of `all`, whose last queries are those of the head.
  Problem of(const Problem& all, HeadTensor of_file = {}) const {
    Matrix k(tokens + entries(), all.d()), v(tokens + entries(), all.dv());
    const auto fill = [&](MatrixView from, Matrix& to) {
      for (Index j = 0; j < tokens; ++j)
        for (Index c = 0; c < from.cols; ++c) to(j, c) = from(j, c);
      for (Index e = 0; e < entries(); ++e)
        for (Index c = 0; c < from.cols; ++c) {
          double sum = 0;
          for (Index j = e * size; j < (e + 1) * size; ++j) sum += double{from(j, c)};
          to(tokens + e, c) = static_cast<float>(sum / static_cast<double>(size));
        }
    };
    fill(all.k, k);
    fill(all.v, v);
    Problem head = make_problem(Matrix::copy_of(all.q.slice({tokens - queries, tokens})),
                                std::move(k), std::move(v), all.scale, causal);
    head.window = window;
    LayerConditions conditions;
    conditions.mask = std::move(of_file);
    CompressedEntries compressed{.tokens = tokens, .stands_for = {}};
    for (Index e = 0; e < entries(); ++e)
      compressed.stands_for.push_back({e * size, (e + 1) * size});
    conditions.compressed = std::make_shared<const CompressedEntries>(std::move(compressed));
    if (sink) conditions.sinks = {static_cast<float>(*sink)};
    if (!chosen.empty()) {
      Matrix lists(queries, std::ssize(chosen) / queries);
      for (Index i = 0; i < queries; ++i)
        std::copy_n(chosen.data() + i * lists.cols(), lists.cols(), lists.row(i));
      std::vector<Matrix> one;
      one.push_back(std::move(lists));
      conditions.chosen_entries.lists = {.where = "extra_indices",
                                         .entries = make_head_tensor(std::move(one))};
    }
    add_conditions(head, conditions, 0, "a test");
    return head;
  }
};

/// P in float64, straight from the definition [queries * keys].
inline std::vector<double> weights_of(const CompressedHead& head, const Problem& problem) {
  const Index keys = problem.keys();
  std::vector<double> p(static_cast<std::size_t>(problem.queries() * keys));
  for (Index i = 0; i < problem.queries(); ++i) {
    double* row = p.data() + i * keys;
    double sum = head.sink ? std::exp(double{static_cast<float>(*head.sink)}) : 0;
    for (Index j = 0; j < keys; ++j) {
      if (!head.sees(i, j)) continue;
      double dot = 0;
      for (Index c = 0; c < problem.d(); ++c)
        dot += double{problem.q(i, c)} * double{problem.k(j, c)};
      sum += row[j] = std::exp(problem.scale * dot);
    }
    for (Index j = 0; j < keys && sum > 0; ++j) row[j] /= sum;
  }
  return p;
}

}  // namespace fovea::test
