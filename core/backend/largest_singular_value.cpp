#include "backend/largest_singular_value.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/random.h"

namespace fovea {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

// Decomposing the Gram matrix of this side takes about a tenth of a second.
constexpr Index largest_gram = 512;
constexpr int most_steps_in_memory = 300;
// Later steps are checked only every 40 steps, as a decomposition takes the cube of the number of
// steps.
constexpr int often = 40;

double from_gram(const Rows& m, Run& run) {
  const bool tall = m.cols() <= m.rows();
  const Index side = tall ? m.cols() : m.rows(), length = tall ? m.rows() : m.cols();
  MatrixXd gram = MatrixXd::Zero(side, side);
  constexpr Index together = 1024;
  for (Index begin = 0; begin < length; begin += together) {
    run.check();
    const Index count = std::min(together, length - begin);
    const MatrixXd band = tall ? MatrixXd(m.middleRows(begin, count).cast<double>())
                               : MatrixXd(m.middleCols(begin, count).transpose().cast<double>());
    gram.noalias() += band.transpose() * band;
  }
  if (!gram.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues()(side - 1)));
}

double by_lanczos(const Rows& m, Run& run) {
  const auto product = [&](const VectorXd& x) {
    VectorXd y = VectorXd::Zero(x.size());
    for (Index i = 0; i < m.rows(); ++i) {
      if (i % 256 == 0) run.check();
      const auto row = m.row(i).transpose().cast<double>();
      y += row.dot(x) * row;
    }
    return y;
  };
  Random random(0, 2);
  VectorXd start(m.cols());
  for (Index i = 0; i < start.size(); ++i) start(i) = random.normal();
  const double value =
      largest_singular_value(product, std::move(start), 1e-9, most_steps_in_memory, run);
  return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double largest_singular_value(const NormalProduct& product, VectorXd x, double residual, int most,
                              Run& run) {
  const Index n = x.size();
  const int steps = static_cast<int>(std::min<Index>(most, n));
  MatrixXd basis(n, steps);
  VectorXd diagonal(steps), beside(steps);  // of the tridiagonal matrix, over `scale`
  x.normalize();
  double top = 0, scale = 0;
  for (int k = 0; k < steps; ++k) {
    basis.col(k) = x;
    VectorXd y = product(x);
    if (!y.allFinite()) return std::numeric_limits<double>::infinity();
    // The numbers are scaled, because the solver drops those beside a diagonal of far less than 1.
    if (k == 0) scale = y.norm();
    if (scale == 0) break;
    y /= scale;
    diagonal(k) = x.dot(y);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough for orthogonality
      y -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * y);
    beside(k) = y.norm();
    run.reached(static_cast<double>(k + 1) / steps);
    if (k < often || k % often == 0 || k + 1 == steps || beside(k) == 0) {
      Eigen::SelfAdjointEigenSolver<MatrixXd> ritz;
      ritz.computeFromTridiagonal(diagonal.head(k + 1), beside.head(k), Eigen::ComputeEigenvectors);
      top = ritz.eigenvalues()(k);
      // |M^T M v - top v| of the leading Ritz vector v.
      if (beside(k) * std::abs(ritz.eigenvectors()(k, k)) <= residual * top) break;
    }
    x = y / beside(k);
  }
  run.reached(1);  // it may have settled early
  return std::sqrt(std::max(0.0, scale * top));
}

double largest_singular_value(MatrixView m, Run& run) {
  const Rows rows(m.data, m.rows, m.cols, Eigen::OuterStride<>(m.stride));
  Run quiet = run.quiet();
  return std::min(m.rows, m.cols) <= largest_gram ? from_gram(rows, quiet)
                                                  : by_lanczos(rows, quiet);
}

}  // namespace fovea
