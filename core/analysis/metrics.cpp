#include "analysis/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/row_bands.h"
#include "analysis/support.h"

namespace fovea {
namespace {

void compare_outputs(MatrixView approximate, MatrixView exact, Metrics& m) {
  double error_sum = 0, norm_sum = 0;
  std::vector<double> relative;
  for (Index i = 0; i < exact.rows; ++i) {
    double error = 0, norm = 0;
    for (Index c = 0; c < exact.cols; ++c) {
      const double z = exact(i, c), difference = approximate(i, c) - z;
      error += difference * difference;
      norm += z * z;
      m.output_max_abs = std::max(m.output_max_abs, std::abs(difference));
    }
    error_sum += error;
    norm_sum += norm;
    m.token_error.push_back(static_cast<float>(std::sqrt(error)));
    // Infinite where Z is 0, and for NaN, which cannot be ordered.
    const double ratio = error == 0 ? 0.0 : std::sqrt(error / norm);
    relative.push_back(std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio);
  }
  m.output_rel_fro = error_sum == 0 ? 0.0 : std::sqrt(error_sum / norm_sum);
  std::ranges::sort(relative);
  const auto quantile = [&](double q) {
    return relative[static_cast<std::size_t>(std::ceil(q * static_cast<double>(relative.size()))) -
                    1];
  };
  m.row_rel_error_p50 = quantile(0.5);
  m.row_rel_error_p90 = quantile(0.9);
  m.row_rel_error_max = relative.back();
}

RowDifference compare_rows(const float* approximate, const float* exact, Index n) {
  RowDifference row;
  for (Index j = 0; j < n; ++j) {
    const double p = exact[j], q = approximate[j];
    row.error += (q - p) * (q - p);
    row.norm += p * p;
    if (!(p > 0)) continue;
    if (q > 0)
      row.kl += p * std::log(p / q);
    else
      row.kl_defined = false;
  }
  return row;
}

double mass_on_support(const Support& support, Index i, const float* exact) {
  double mass = 0;
  support.for_parts(i, {0, support.plan().n}, [&](const Support::Part& part) {
    for (Index j = part.keys.begin; j < part.keys.end; ++j) mass += exact[j];
  });
  return mass;
}

// Sums of the weights of a row differ from 1 by rounding, which is not dropped mass.
float dropped(double kept) {
  constexpr double rounding = 1e-5;  // at worst about n 2^-24, usually sqrt(n) 2^-24
  return 1 - kept < rounding ? 0.0f : static_cast<float>(1 - kept);
}

template <class Get>
Estimate mean_of(const std::vector<RowDifference>& rows, double correction, Get get) {
  const double count = static_cast<double>(rows.size());
  double sum = 0, squares = 0;
  for (const RowDifference& row : rows) sum += get(row);
  const double mean = sum / count;
  for (const RowDifference& row : rows) squares += (get(row) - mean) * (get(row) - mean);
  const double variance = rows.size() > 1 ? squares / (count - 1) / count : 0.0;
  return {mean, std::sqrt(std::max(0.0, variance * correction))};
}

// sqrt(sum error / sum norm); its standard error is that of the ratio estimator, linearised.
Estimate relative_norm(const std::vector<RowDifference>& rows, double correction) {
  double error = 0, norm = 0, squares = 0;
  for (const RowDifference& row : rows) error += row.error, norm += row.norm;
  if (!(error > 0)) return {error, 0};
  const double ratio = error / norm, count = static_cast<double>(rows.size());
  for (const RowDifference& row : rows) {
    const double residual = row.error - ratio * row.norm;
    squares += residual * residual;
  }
  const double ratio_error =
      count > 1 ? std::sqrt(std::max(0.0, squares / (count - 1) * count * correction)) / norm : 0.0;
  return {std::sqrt(ratio), ratio_error / (2 * std::sqrt(ratio))};
}

void compare_attention(const Operator& approximate, const Operator& exact, const Support& support,
                       const RowBands& sample, Metrics& m, Run& run) {
  const Index n = exact.plan().n;
  const bool complete = support.complete();
  std::vector<RowDifference> rows;
  if (!complete)
    m.dropped_mass.assign(static_cast<std::size_t>(n), std::numeric_limits<float>::quiet_NaN());
  Run quiet = run.quiet();  // progress counts rows
  for (const IndexRange& band : sample.bands) {
    if (const auto there = approximate.compare_rows(exact, band, quiet)) {
      rows.insert(rows.end(), there->begin(), there->end());
    } else {
      const Matrix p = exact.tile(band, {0, n}, quiet), q = approximate.tile(band, {0, n}, quiet);
      for (Index i = band.begin; i < band.end; ++i) {
        RowDifference row = compare_rows(q.row(i - band.begin), p.row(i - band.begin), n);
        if (!complete) row.mass = mass_on_support(support, i, p.row(i - band.begin));
        rows.push_back(row);
      }
    }
    if (!complete)
      for (Index i = band.begin; i < band.end; ++i)
        m.dropped_mass[i] =
            dropped(rows[rows.size() - static_cast<std::size_t>(band.end - i)].mass);
    run.reached(static_cast<double>(rows.size()) / static_cast<double>(sample.rows));
  }
  const double correction = sample.population_correction();
  m.attention_rel_fro = relative_norm(rows, correction);
  m.mass_kept = complete ? Estimate{1.0, 0.0}
                         : mean_of(rows, correction, [](const RowDifference& r) { return r.mass; });
  std::erase_if(rows, [](const RowDifference& r) { return !r.kl_defined; });
  if (!rows.empty())
    m.attention_kl = mean_of(rows, correction, [](const RowDifference& r) { return r.kl; });
}

}  // namespace

double output_rel_fro(MatrixView approximate, MatrixView exact) {
  double error = 0, norm = 0;
  for (Index i = 0; i < exact.rows; ++i)
    for (Index c = 0; c < exact.cols; ++c) {
      const double z = exact(i, c), difference = approximate(i, c) - z;
      error += difference * difference;
      norm += z * z;
    }
  return error == 0 ? 0.0 : std::sqrt(error / norm);
}

Metrics compare(const Operator& approximate, const Output& approximate_output,
                const Operator& exact, const Output& exact_output, Run& run, double max_entries,
                std::uint64_t seed) {
  const Index n = exact.plan().n;
  Metrics m;
  compare_outputs(approximate_output.z, exact_output.z, m);
  const Support support(approximate.plan());
  m.density = support.pairs() / (static_cast<double>(n) * static_cast<double>(n));
  if (&approximate == &exact) {
    m.attention_kl = Estimate{};
    m.mass_kept = {1.0, 0.0};
    return m;
  }
  const RowBands sample = row_bands(n, max_entries, seed);
  if (sample.sampled()) m.sampled_rows = sample.rows;
  compare_attention(approximate, exact, support, sample, m, run);
  return m;
}

}  // namespace fovea
