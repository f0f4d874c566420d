#include "backend/singular_values.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "data/stop.h"

namespace fovea {
namespace {

using Columns = Eigen::MatrixXd;

// The smaller of A^T A and A A^T, its lower half.
Columns gram(const Eigen::Ref<const Columns>& a, const std::stop_token& stop) {
  constexpr Eigen::Index panel = 32;
  Columns g = Columns::Zero(a.cols(), a.cols());
  for (Eigen::Index begin = 0; begin < a.cols(); begin += panel) {
    check_stop(stop);
    const Eigen::Index width = std::min(panel, a.cols() - begin), below = a.cols() - begin;
    g.block(begin, begin, below, width).noalias() =
        a.rightCols(below).transpose() * a.middleCols(begin, width);
  }
  return g;
}

// Ascending. NaN if they are not found, so that no wrong number is taken for a singular value.
Eigen::VectorXd of_tridiagonal(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& sub) {
  Eigen::SelfAdjointEigenSolver<Columns> solver;
  solver.computeFromTridiagonal(diagonal, sub, Eigen::EigenvaluesOnly);
  if (solver.info() == Eigen::Success) return solver.eigenvalues();
  return Eigen::VectorXd::Constant(diagonal.size(), std::numeric_limits<double>::quiet_NaN());
}

// Values that rounding made negative become 0.
Eigen::VectorXd descending(const Eigen::VectorXd& ascending) {
  return ascending.reverse().unaryExpr([](double x) { return x < 0 ? 0.0 : x; });
}

// Householder reduction of a symmetric matrix (lower half) to tridiagonal form, a column at a time
// so that it can be cancelled; then its eigenvalues.
Eigen::VectorXd eigenvalues(Columns& g, const std::stop_token& stop) {
  const Eigen::Index n = g.rows();
  Eigen::VectorXd sub(n - 1);
  for (Eigen::Index k = 0; k + 1 < n; ++k) {
    if (k % 4 == 0) check_stop(stop);
    const Eigen::Index left = n - k - 1;
    double tau = 0, beta = 0;
    g.col(k).tail(left).makeHouseholderInPlace(tau, beta);
    sub(k) = beta;
    g(k + 1, k) = 1;
    const auto v = g.col(k).tail(left);
    auto rest = g.bottomRightCorner(left, left).selfadjointView<Eigen::Lower>();
    Eigen::VectorXd w = rest * (tau * v);
    w -= (0.5 * tau * w.dot(v)) * v;
    rest.rankUpdate(v, w, -1);
  }
  return of_tridiagonal(g.diagonal(), sub);
}

// Householder reduction of A, which has at least as many rows as columns, to bidiagonal form B;
// then the eigenvalues of the symmetric matrix of 0, B^T, B and 0, which are those of B and their
// negatives, and which is tridiagonal in the order of Golub and Kahan (1965, section 3). Eigen's
// BDCSVD takes at least twice as long, and version 3.4.0 reads beyond its arrays where a number
// becomes denormal on the way.
Eigen::VectorXd by_bidiagonal(Columns a) {
  const Eigen::Index m = a.rows(), n = a.cols();
  Eigen::VectorXd off(2 * n - 1), space(std::max(m, n));
  for (Eigen::Index k = 0; k < n; ++k) {
    const Eigen::Index right = n - k - 1;
    double tau = 0;
    a.col(k).tail(m - k).makeHouseholderInPlace(tau, off(2 * k));
    a.bottomRightCorner(m - k, right)
        .applyHouseholderOnTheLeft(a.col(k).tail(m - k - 1), tau, space.data());
    if (right == 0) break;
    a.row(k).tail(right).makeHouseholderInPlace(tau, off(2 * k + 1));
    a.bottomRightCorner(m - k - 1, right)
        .applyHouseholderOnTheRight(a.row(k).tail(right - 1).transpose(), tau, space.data());
  }
  return descending(of_tridiagonal(Eigen::VectorXd::Zero(2 * n), off)).head(n);
}

// Pivoted Cholesky G = L L^T + E of a Gram matrix (lower half), columns as they are needed, until
// trace E is negligible; `left` receives it. Empty if it takes more than `most` columns.
Columns low_rank_factor(const Columns& g, Eigen::Index most, double& left,
                        const std::stop_token& stop) {
  const Eigen::Index n = g.rows();
  Columns l(n, most);
  Eigen::VectorXd rest = g.diagonal();  // of E
  const double enough = negligible_share * negligible_share * rest.sum();
  for (Eigen::Index k = 0;; ++k) {
    left = rest.sum();
    if (left <= enough) return l.leftCols(k);
    if (k == most) return {};
    if (k % 16 == 0) check_stop(stop);
    Eigen::Index pivot = 0;
    const double largest = rest.maxCoeff(&pivot);
    auto column = l.col(k);
    column.head(pivot) = g.row(pivot).head(pivot).transpose();
    column.tail(n - pivot) = g.col(pivot).tail(n - pivot);
    column.noalias() -= l.leftCols(k) * l.row(pivot).head(k).transpose();
    column /= std::sqrt(largest);
    rest = (rest - column.cwiseAbs2()).cwiseMax(0.0);
    rest(pivot) = 0;
  }
}

// Decomposes the smaller Gram matrix, or a factor of low rank of it if one is found at little cost.
Eigen::VectorXd by_gram(const Eigen::Ref<const Columns>& a, Index& resolved,
                        const std::stop_token& stop) {
  Columns g = gram(a, stop);
  const Eigen::Index n = g.rows();
  double left = 0;
  const Columns l = low_rank_factor(g, n / 6, left, stop);
  if (l.cols() == 0) return descending(eigenvalues(g, stop)).cwiseSqrt();
  const Eigen::Index rank = l.cols();
  g = gram(l, stop);
  Eigen::VectorXd values(n);
  values.head(rank) = descending(eigenvalues(g, stop)).cwiseSqrt();
  if (values.head(rank).hasNaN())
    return values.setConstant(std::numeric_limits<double>::quiet_NaN());
  const double bound = std::sqrt(left / static_cast<double>(n - rank));
  values.tail(n - rank).setConstant(bound);
  std::sort(values.begin(), values.end(), std::greater{});
  if (bound > 0)
    resolved = std::count_if(values.begin(), values.end(), [=](double x) { return x > bound; });
  return values;
}

}  // namespace

SingularValueList singular_values(const double* entries, Index rows, Index cols,
                                  std::stop_token stop) {
  check_stop(stop);
  // Row-major entries are the columns of the transpose, which has the same singular values.
  const Eigen::Map<const Columns> a(entries, cols, rows);
  const Index count = std::min(rows, cols);
  SingularValueList out{std::vector<double>(count), count};
  Eigen::Map<Eigen::VectorXd> values(out.values.data(), count);
  const double size = a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0.0;
  if (!a.allFinite()) {
    values.setConstant(std::numeric_limits<double>::quiet_NaN());
  } else if (!(size > 0)) {
    values.setZero();
  } else {
    // Squares of the scaled entries neither overflow nor underflow.
    const Columns scaled = rows <= cols ? Columns(a / size) : Columns(a.transpose() / size);
    values =
        size * (count <= direct_side ? by_bidiagonal(scaled) : by_gram(scaled, out.resolved, stop));
  }
  return out;
}

SingularValueList singular_values(MatrixView block, std::stop_token stop) {
  std::vector<double> entries;
  entries.reserve(block.rows * block.cols);
  for (Index i = 0; i < block.rows; ++i)
    entries.insert(entries.end(), block.row(i), block.row(i) + block.cols);
  return singular_values(entries.data(), block.rows, block.cols, std::move(stop));
}

}  // namespace fovea
