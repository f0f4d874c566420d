// What the laws of given and of drawn pairs share: heads under several conditions, and P as the
// softmax over the pairs that are kept and that the head admits.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "harness.h"

namespace fovea::test {

/// Bidirectional, causal, with fewer queries than keys, and with a window and two documents.
inline std::vector<Problem> heads_that_keep_pairs() {
  std::vector<Problem> out;
  for (const bool causal : {false, true})
    out.push_back(make_data(Data::gaussian, 75, 8, 5, causal));
  out.push_back(make_problem(gaussian(40, 8, 1), gaussian(70, 8, 2), gaussian(70, 5, 3), 0, true));
  Problem windowed = make_data(Data::gaussian, 75, 8, 5, true);
  windowed.window = 20;
  std::vector<std::int32_t> documents(75, 0);
  std::fill(documents.begin() + 30, documents.end(), 1);
  windowed.mask = std::make_shared<const PairMask>(documents, documents, BitMatrix());
  out.push_back(std::move(windowed));
  return out;
}

/// [nq, nk] in double; a query without a pair has a row of 0.
template <class Keeps>
std::vector<double> softmax_over(const Problem& problem, Keeps keeps) {
  std::vector<double> p(static_cast<std::size_t>(problem.queries() * problem.keys()));
  for (Index i = 0; i < problem.queries(); ++i) {
    double* row = p.data() + i * problem.keys();
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    const auto counts = [&](Index j) { return problem.admits(i, j) && keeps(i, j); };
    for (Index j = 0; j < problem.keys(); ++j)
      if (counts(j)) largest = std::max(largest, problem.logit(i, j));
    for (Index j = 0; j < problem.keys(); ++j)
      if (counts(j)) sum += row[j] = std::exp(problem.logit(i, j) - largest);
    for (Index j = 0; j < problem.keys(); ++j)
      if (sum > 0) row[j] /= sum;
  }
  return p;
}

}  // namespace fovea::test
