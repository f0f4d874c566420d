#include "analysis/spectrum.h"

#include <Eigen/Core>
#include <utility>

#include "analysis/row_bands.h"
#include "backend/largest_singular_value.h"
#include "data/random.h"

namespace fovea {
namespace {

using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int most_steps = 40;

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

double norm_by_rows(const ReadRows& read, VectorXd start, Run& run) {
  const Index n = start.size();
  const RowBands all = row_bands({n, n}, static_cast<double>(n) * static_cast<double>(n), 0);
  Run quiet = run.quiet();
  return largest_singular_value(
      [&](const VectorXd& x) { return normal_product(read, all, x, quiet); }, std::move(start),
      1e-6, most_steps, run);
}

}  // namespace

double operator_norm(const Operator& op, Run& run) {
  return weighted_norm(op, {}, run);
}

double weighted_norm(const Operator& op, std::span<const double> w, Run& run) {
  const Index n = op.plan().lengths.n();
  Random random(0, 0);
  VectorXd start(n);
  // Entries are positive, and so is the leading vector: this start is never orthogonal to it.
  for (Index i = 0; i < n; ++i) start(i) = 1 + 0.1 * random.uniform();
  return norm_by_rows(
      [&](IndexRange rows, Run& its) {
        Matrix p = op.tile(rows, {0, n}, its);
        if (!w.empty())
          for (Index i = 0; i < p.rows(); ++i) {
            const double of_row = w[rows.begin + i];
            for (float& x : std::span(p.row(i), static_cast<std::size_t>(n)))
              x = static_cast<float>(of_row * static_cast<double>(x));
          }
        return p;
      },
      std::move(start), run);
}

double difference_norm(const Operator& approximate, const Operator& exact, Run& run) {
  const Index n = exact.plan().lengths.n();
  Random random(0, 1);
  VectorXd start(n);
  for (Index i = 0; i < n; ++i) start(i) = random.normal();
  return norm_by_rows(
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
      std::move(start), run);
}

}  // namespace fovea
