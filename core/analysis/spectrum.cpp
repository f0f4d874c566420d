#include "analysis/spectrum.h"

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <limits>

#include "analysis/row_bands.h"
#include "data/random.h"

namespace fovea {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int most_steps = 40;

// Rows of a matrix [n, n], all columns.
using ReadRows = std::function<Matrix(IndexRange rows, Run& run)>;

// M^T M x, one band of rows at a time.
VectorXd normal_product(const ReadRows& read, const RowBands& all, const VectorXd& x, Run& run) {
  VectorXd y = VectorXd::Zero(x.size());
  for (const IndexRange& band : all.bands) {
    run.check();
    const Matrix p = read(band, run);
    const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> rows(
        p.data(), p.rows(), p.cols(), Eigen::OuterStride<>(p.stride()));
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const double dot = rows.row(i).cast<double>().dot(x.transpose());
      y += dot * rows.row(i).transpose().cast<double>();
    }
  }
  return y;
}

// |M|_op from this start, until the square changes by no more than `settled` of itself in a step.
double largest_singular_value(const ReadRows& read, VectorXd x, double settled, Run& run) {
  const Index n = x.size();
  const RowBands all = row_bands({n, n}, static_cast<double>(n) * static_cast<double>(n), 0);
  const int steps = static_cast<int>(std::min<Index>(most_steps, n));
  Run quiet = run.quiet();
  MatrixXd basis(n, steps);
  VectorXd diagonal(steps), beside(steps);
  x.normalize();
  double top = 0;
  for (int k = 0; k < steps; ++k) {
    basis.col(k) = x;
    VectorXd y = normal_product(read, all, x, quiet);
    if (!y.allFinite()) return std::numeric_limits<double>::infinity();
    diagonal(k) = x.dot(y);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough for orthogonality
      y -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * y);
    beside(k) = y.norm();
    Eigen::SelfAdjointEigenSolver<MatrixXd> ritz;
    ritz.computeFromTridiagonal(diagonal.head(k + 1), beside.head(k), Eigen::EigenvaluesOnly);
    const double before = top;
    top = ritz.eigenvalues()(k);
    run.reached(static_cast<double>(k + 1) / steps);
    if (beside(k) <= 1e-14 * top || (k > 2 && top - before <= settled * top)) break;
    x = y / beside(k);
  }
  run.reached(1);  // it may have settled early
  return std::sqrt(std::max(0.0, top));
}

}  // namespace

double operator_norm(const Operator& op, Run& run) {
  const Index n = op.plan().lengths.n();
  Random random(0, 0);
  VectorXd start(n);
  // Weights are positive: so is the leading vector, and this start is never orthogonal to it.
  for (Index i = 0; i < n; ++i) start(i) = 1 + 0.1 * random.uniform();
  return largest_singular_value(
      [&](IndexRange rows, Run& its) {
        return op.tile(rows, {0, n}, its);
      },
      std::move(start), 1e-7, run);
}

double difference_norm(const Operator& approximate, const Operator& exact, Run& run) {
  const Index n = exact.plan().lengths.n();
  Random random(0, 1);
  VectorXd start(n);
  for (Index i = 0; i < n; ++i) start(i) = random.normal();
  return largest_singular_value(
      [&](IndexRange rows, Run& its) {
        Matrix difference = approximate.tile(rows, {0, n}, its);
        const Matrix p = exact.tile(rows, {0, n}, its);
        for (Index i = 0; i < p.rows(); ++i) {
          float* const row = difference.row(i);
          const float* const exact_row = p.row(i);
          for (Index j = 0; j < n; ++j) row[j] -= exact_row[j];
        }
        return difference;
      },
      std::move(start), 1e-5, run);
}

double thin_norm(MatrixView m) {
  const Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> rows(m.data, m.rows, m.cols,
                                                                  Eigen::OuterStride<>(m.stride));
  MatrixXd gram = MatrixXd::Zero(m.cols, m.cols);
  constexpr Index height = 1024;
  for (Index i = 0; i < m.rows; i += height) {
    const MatrixXd band = rows.middleRows(i, std::min(height, m.rows - i)).cast<double>();
    gram.noalias() += band.transpose() * band;
  }
  if (!gram.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, solver.eigenvalues()(m.cols - 1)));
}

}  // namespace fovea
