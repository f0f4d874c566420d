// The loss of tree attention as a function of who is in which leaf, in float64 and straight from
// the formulas: with it the gradients are compared. Shares no code with core/learning.
#pragma once

#include <cmath>
#include <vector>

#include "data/matrix.h"
#include "harness.h"

namespace fovea::test {

using Flags = std::vector<std::vector<bool>>;  // [tokens][leaves or nodes]

inline double at(MatrixView m, Index i, Index c) {
  return static_cast<double>(m(i, c));
}

/// |z - t_i|^2.
inline double square_distance(const std::vector<double>& z, MatrixView targets, Index i) {
  double sum = 0;
  for (Index c = 0; c < targets.cols; ++c)
    sum += std::pow(z[static_cast<std::size_t>(c)] - at(targets, i, c), 2);
  return sum;
}

/// |Z_il - t_i|^2 of TF: key j counts where it is a member of leaf l and may be attended.
inline double fine_loss(MatrixView logits, MatrixView values, MatrixView targets,
                        const Flags& key_in, Index i, Index l, float no_pair) {
  std::vector<double> z(static_cast<std::size_t>(values.cols), 0.0);
  double sum = 0;
  for (Index j = 0; j < values.rows; ++j) {
    if (!key_in[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)] ||
        logits(i, j) == no_pair)
      continue;
    const double weight = std::exp(at(logits, i, j));
    sum += weight;
    for (Index c = 0; c < values.cols; ++c)
      z[static_cast<std::size_t>(c)] += weight * at(values, j, c);
  }
  for (double& x : z) x = sum > 0 ? x / sum : 0;
  return square_distance(z, targets, i);
}

/// Z_i of TC: the sum over the nodes given of alpha times the mean of the values of the first
/// `keys` keys that are members of the node.
inline std::vector<double> coarse_output(MatrixView values, const Flags& key_at,
                                         const std::vector<Index>& nodes,
                                         const std::vector<double>& alpha, Index keys) {
  std::vector<double> z(static_cast<std::size_t>(values.cols), 0.0);
  for (std::size_t l = 0; l < nodes.size(); ++l) {
    double count = 0;
    std::vector<double> sum(z.size(), 0.0);
    for (Index j = 0; j < keys; ++j) {
      if (!key_at[static_cast<std::size_t>(j)][static_cast<std::size_t>(nodes[l])]) continue;
      ++count;
      for (Index c = 0; c < values.cols; ++c) sum[static_cast<std::size_t>(c)] += at(values, j, c);
    }
    for (std::size_t c = 0; count > 0 && c < z.size(); ++c) z[c] += alpha[l] * sum[c] / count;
  }
  return z;
}

/// A sum of so many products of numbers of this size, in float: at most one rounding each.
inline double rounding(double terms, double size) {
  return terms * size * 0x1p-23;
}

}  // namespace fovea::test
