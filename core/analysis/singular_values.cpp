#include "analysis/singular_values.h"

#include <Eigen/Dense>

#include "data/error.h"

namespace fovea {
namespace {

using Columns = Eigen::MatrixXd;

void check(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

// The smaller of A^T A and A A^T, its lower half.
Columns gram(const Eigen::Ref<const Columns>& a, const std::stop_token& stop) {
  constexpr Eigen::Index panel = 128;
  Columns g = Columns::Zero(a.cols(), a.cols());
  for (Eigen::Index begin = 0; begin < a.cols(); begin += panel) {
    check(stop);
    const Eigen::Index width = std::min(panel, a.cols() - begin), below = a.cols() - begin;
    g.block(begin, begin, below, width).noalias() =
        a.rightCols(below).transpose() * a.middleCols(begin, width);
  }
  return g;
}

// Householder reduction of a symmetric matrix (lower half) to tridiagonal form, a column at a time
// so that it can be stopped; then its eigenvalues.
Eigen::VectorXd eigenvalues(Columns& g, const std::stop_token& stop) {
  const Eigen::Index n = g.rows();
  Eigen::VectorXd sub(n - 1);
  for (Eigen::Index k = 0; k + 1 < n; ++k) {
    if (k % 16 == 0) check(stop);
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
  Eigen::SelfAdjointEigenSolver<Columns> solver;
  solver.computeFromTridiagonal(g.diagonal(), sub, Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

}  // namespace

std::vector<double> singular_values(const double* entries, Index rows, Index cols,
                                    std::stop_token stop) {
  check(stop);
  // Row-major entries are the columns of the transpose, which has the same singular values.
  const Eigen::Map<const Columns> a(entries, cols, rows);
  std::vector<double> out(static_cast<std::size_t>(std::min(rows, cols)));
  Eigen::Map<Eigen::VectorXd> values(out.data(), std::min(rows, cols));
  if (!a.allFinite()) {
    values.setConstant(std::numeric_limits<double>::quiet_NaN());
  } else if (std::min(rows, cols) <= direct_side) {
    values = Eigen::BDCSVD<Columns>(a).singularValues();
  } else {
    Columns g = rows <= cols ? gram(a, stop) : gram(a.transpose(), stop);
    values = eigenvalues(g, stop).reverse().cwiseMax(0.0).cwiseSqrt();
  }
  return out;
}

}  // namespace fovea
