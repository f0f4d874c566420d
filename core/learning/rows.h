// Rows are how learning sees a Matrix as one of Eigen's, and how it picks rows of it.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <vector>

#include "data/matrix.h"
#include "data/random.h"

namespace fovea {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>;

inline Rows rows_of(MatrixView m) {
  return {m.data, m.rows, m.cols, Eigen::OuterStride<>(m.stride)};
}

/// The given rows of a matrix, in this order.
template <class Number>
Matrix gathered(MatrixView from, const std::vector<Number>& rows) {
  Matrix out(static_cast<Index>(rows.size()), from.cols);
  for (Index i = 0; i < out.rows(); ++i)
    std::copy_n(from.row(static_cast<Index>(rows[i])), from.cols, out.row(i));
  return out;
}

/// `count` of the numbers below n, uniformly and without replacement, in the order drawn.
template <class Number>
std::vector<Number> drawn(Index n, Index count, Random& random) {
  std::vector<Number> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Number{0});
  for (Index i = 0; i < count; ++i)
    std::swap(out[i], out[static_cast<std::size_t>(i) + random.below(n - i)]);
  out.resize(static_cast<std::size_t>(count));
  return out;
}

}  // namespace fovea
