#include "analysis/effective_rank.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backend/profile.h"
#include "backend/singular_values.h"
#include "data/draw_purpose.h"
#include "data/random.h"

namespace fovea {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int draw_count = 8, lanczos_steps = 64;

RowBands all_rows(Lengths lengths) {
  return row_bands(lengths, std::numeric_limits<double>::infinity(), 0);
}

/// Σσ and Σσ ln σ, or the estimates of one draw.
struct SpectralSums {
  double values = 0, logs = 0;

  void add(double weight, double value) {
    if (value == 0) return;
    values += weight * value;
    logs += weight * value * std::log(value);
  }
  /// -Σ p ln p with p = σ / Σσ.
  double entropy() const { return std::log(values) - logs / values; }
};

double rank_of(const SpectralSums& sums) {
  return sums.values == 0 ? 0.0 : std::exp(sums.entropy());
}

/// P^T P X, one band of rows at a time. X: [keys, draw_count].
MatrixXd normal_product(const RowBands& all, const ReadRows& read, const MatrixXd& x, Run& run) {
  MatrixXd y = MatrixXd::Zero(x.rows(), x.cols());
  for (const IndexRange& band : all.bands) {
    run.check();
    const Matrix p = read(band, run);
    const Eigen::Map<const FloatRows, 0, Eigen::OuterStride<>> floats(
        p.data(), p.rows(), p.cols(), Eigen::OuterStride<>(p.stride()));
    const MatrixXd rows = floats.cast<double>();
    y.noalias() += rows.transpose() * (rows * x);
  }
  return y;
}

/// Lanczos iteration from one vector of random signs.
class Draw {
 public:
  Draw(Index keys, std::uint64_t seed, int number)
      : basis_(keys, lanczos_steps), diagonal_(lanczos_steps), beside_(lanczos_steps) {
    Random random(seed, stream_of(DrawPurpose::trace_signs, number));
    const double size = 1 / std::sqrt(keys);
    for (Index j = 0; j < keys; ++j) basis_(j, 0) = random.bits() % 2 == 0 ? size : -size;
  }

  bool ended() const { return ended_ || steps_ == lanczos_steps; }
  VectorXd vector() const {
    return ended() ? VectorXd(VectorXd::Zero(basis_.rows())) : VectorXd(basis_.col(steps_));
  }
  /// y = P^T P times vector().
  void step(VectorXd y) {
    if (ended()) return;
    diagonal_(steps_) = basis_.col(steps_).dot(y);
    const auto known = basis_.leftCols(steps_ + 1);
    for (int pass = 0; pass < 2; ++pass) y -= known * (known.transpose() * y);  // twice is enough
    beside_(steps_) = y.norm();
    constexpr double rounding = 1e-14;
    ended_ = !(beside_(steps_) > rounding * diagonal_.head(steps_ + 1).maxCoeff());
    if (++steps_ < lanczos_steps && !ended_) basis_.col(steps_) = y / beside_(steps_ - 1);
  }

  /// Gauss quadrature after at most this many steps: the eigenvalues of the tridiagonal matrix are
  /// squares of σ, the squared first components of its eigenvectors their weights.
  SpectralSums sums(int most) const {
    const int steps = std::min(most, steps_);
    // The solver drops numbers beside a diagonal of far less than 1, so they are scaled.
    const double scale = diagonal_.head(steps).maxCoeff();
    SpectralSums out;
    if (!(scale > 0)) return out;
    Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal_.head(steps) / scale, beside_.head(steps - 1) / scale,
                                  Eigen::ComputeEigenvectors);
    const auto keys = static_cast<double>(basis_.rows());
    for (int k = 0; k < steps; ++k)
      out.add(keys * std::pow(solver.eigenvectors()(0, k), 2),
              std::sqrt(scale * std::max(0.0, solver.eigenvalues()(k))));
    return out;
  }

 private:
  MatrixXd basis_;              // [keys, steps]
  VectorXd diagonal_, beside_;  // of the tridiagonal matrix
  int steps_ = 0;
  bool ended_ = false;
};

/// The rank from the mean of the draws. The standard error is that of the entropy, linearised in
/// both sums.
Estimate rank_of_draws(const std::vector<Draw>& all, int steps) {
  std::vector<SpectralSums> each;
  SpectralSums mean;
  for (const Draw& draw : all) {
    each.push_back(draw.sums(steps));
    mean.values += each.back().values / draw_count;
    mean.logs += each.back().logs / draw_count;
  }
  if (mean.values == 0) return {};
  double squares = 0;
  for (const SpectralSums& sums : each) {
    const double of_values = (sums.values - mean.values) / mean.values,
                 of_logs = (sums.logs - mean.logs) / mean.values;
    squares += std::pow(of_values * (1 + mean.logs / mean.values) - of_logs, 2);
  }
  const double rank = rank_of(mean);
  return {rank, rank * std::sqrt(squares / (draw_count - 1) / draw_count)};
}

Estimate estimated_rank(Lengths lengths, const ReadRows& read, Run& run, std::uint64_t seed) {
  const RowBands all = all_rows(lengths);
  std::vector<Draw> each;
  for (int d = 0; d < draw_count; ++d) each.emplace_back(lengths.keys, seed, d);
  Run quiet = run.quiet();  // progress counts steps
  for (int step = 0; step < lanczos_steps; ++step) {
    if (std::ranges::all_of(each, &Draw::ended)) break;
    MatrixXd x(lengths.keys, draw_count);
    for (int d = 0; d < draw_count; ++d) x.col(d) = each[d].vector();
    const MatrixXd y = normal_product(all, read, x, quiet);
    if (!y.allFinite()) return {std::numeric_limits<double>::quiet_NaN(), 0};
    for (int d = 0; d < draw_count; ++d) each[d].step(y.col(d));
    run.reached(static_cast<double>(step + 1) / lanczos_steps);
  }
  Estimate rank = rank_of_draws(each, lanczos_steps);
  const double before = rank_of_draws(each, lanczos_steps / 2).value;
  rank.standard_error = std::hypot(rank.standard_error, rank.value - before);
  return rank;
}

Estimate exact_rank(Lengths lengths, const ReadRows& read, Run& run) {
  std::vector<double> entries;
  entries.reserve(lengths.queries * lengths.keys);
  for (const IndexRange& band : all_rows(lengths).bands) {
    run.check();
    const Matrix p = read(band, run);
    for (Index i = 0; i < p.rows(); ++i)
      entries.insert(entries.end(), p.row(i), p.row(i) + lengths.keys);
  }
  return {effective_rank(
              singular_values(entries.data(), lengths.queries, lengths.keys, run.stop).values),
          0};
}

}  // namespace

double effective_rank(std::span<const double> singular_values) {
  SpectralSums sums;
  for (const double value : singular_values) sums.add(1, value);
  return rank_of(sums);
}

Estimate effective_rank(Lengths lengths, const ReadRows& read, Run& run, std::uint64_t seed,
                        Index most_decomposed) {
  return std::max(lengths.queries, lengths.keys) <= most_decomposed
             ? exact_rank(lengths, read, run)
             : estimated_rank(lengths, read, run, seed);
}

}  // namespace fovea
