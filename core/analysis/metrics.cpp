#include "analysis/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "analysis/row_bands.h"
#include "analysis/row_sizes.h"
#include "analysis/support.h"
#include "analysis/top_recall.h"
#include "data/larger.h"

namespace fovea {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(),
                 not_defined = std::numeric_limits<double>::quiet_NaN();

/// The largest number, or NaN if one is NaN.
double largest_of(const std::vector<double>& values) {
  double largest = -infinite;
  for (const double value : values) largest = larger_or_nan(largest, value);
  return largest;
}

bool any_not_defined(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

/// Sums over pairs of numbers, for cosines and correlations.
struct ProductSums {
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0, distance = 0;
  Index count = 0;

  void add(double a, double b) {
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
    yy += b * b;
    distance += (a - b) * (a - b);
    ++count;
  }
  void add(const ProductSums& more) {
    x += more.x;
    y += more.y;
    xx += more.xx;
    xy += more.xy;
    yy += more.yy;
    distance += more.distance;
    count += more.count;
  }
  /// 0 if one of two that differ is zero.
  double cosine() const {
    if (distance == 0) return 1;
    const double norms = std::sqrt(xx) * std::sqrt(yy);
    return norms == 0 ? 0 : std::clamp(xy / norms, -1.0, 1.0);
  }
};

/// The correlation of all numbers. Not defined where those of one side are equal up to rounding.
double correlation(MatrixView a, MatrixView b, const ProductSums& sums) {
  if (sums.distance == 0) return 1;
  const double mean_a = sums.x / static_cast<double>(sums.count),
               mean_b = sums.y / static_cast<double>(sums.count);
  ProductSums centred;
  for (Index i = 0; i < a.rows; ++i)
    for (Index c = 0; c < a.cols; ++c)
      centred.add(static_cast<double>(a(i, c)) - mean_a, static_cast<double>(b(i, c)) - mean_b);
  const auto are_equal = [&](double squares, double mean) {
    return squares <= static_cast<double>(sums.count) * mean * mean * 0x1p-100;
  };
  if (are_equal(centred.xx, mean_a) || are_equal(centred.yy, mean_b)) return not_defined;
  return centred.cosine();
}

void compare_directions(MatrixView approximate, MatrixView exact, Metrics& m) {
  ProductSums all;
  for (Index i = 0; i < exact.rows; ++i) {
    ProductSums row;
    for (Index c = 0; c < exact.cols; ++c)
      row.add(static_cast<double>(approximate(i, c)), static_cast<double>(exact(i, c)));
    m.output_min_cosine = std::isfinite(row.distance) && !std::isnan(m.output_min_cosine)
                              ? std::min(m.output_min_cosine, row.cosine())
                              : not_defined;
    all.add(row);
  }
  const bool defined = std::isfinite(all.distance);
  m.output_cosine = defined ? all.cosine() : not_defined;
  m.output_pearson = defined ? correlation(approximate, exact, all) : not_defined;
}

void compare_outputs(MatrixView approximate, MatrixView exact, Metrics& m) {
  double error_sum = 0, norm_sum = 0, absolute_error = 0, absolute = 0;
  std::vector<double> relative;
  for (Index i = 0; i < exact.rows; ++i) {
    double error = 0, norm = 0;
    for (Index c = 0; c < exact.cols; ++c) {
      const double z = exact(i, c), difference = approximate(i, c) - z;
      error += difference * difference;
      norm += z * z;
      if (std::abs(difference) > m.output_max_abs) m.max_abs_row = i, m.max_abs_col = c;
      m.output_max_abs = larger_or_nan(m.output_max_abs, std::abs(difference));
      absolute_error += std::abs(difference);
      absolute += std::abs(z);
    }
    if (!std::isfinite(error) || !std::isfinite(norm)) error = m.output_max_abs = not_defined;
    error_sum += error;
    norm_sum += norm;
    m.token_error.push_back(static_cast<float>(std::sqrt(error)));
    relative.push_back(error == 0 ? 0.0 : std::sqrt(error / norm));  // infinite if Z is 0
  }
  m.output_rel_fro = error_sum == 0 ? 0.0 : std::sqrt(error_sum / norm_sum);
  m.output_rel_l1 = std::isnan(error_sum) ? not_defined
                    : error_sum == 0      ? 0.0
                                          : absolute_error / absolute;
  compare_directions(approximate, exact, m);
  const RowBands all{.rows = exact.rows, .queries = exact.rows};
  m.row_rel_error_p50 = quantile_of(all, relative, 0.5);
  m.row_rel_error_p90 = quantile_of(all, relative, 0.9);
  m.row_rel_error_max = largest_of(relative);
}

/// The difference of a row that is not finite: since comparisons with NaN are false, its entries
/// would count as equal.
RowDifference row_not_defined() {
  RowDifference row{.error = not_defined,
                    .norm = not_defined,
                    .variation = not_defined,
                    .kl = not_defined,
                    .reverse_kl = not_defined,
                    .mass = not_defined};
  row.top_recall.fill(not_defined);
  return row;
}

RowDifference compare_rows(const float* approximate, const float* exact, Index keys) {
  RowDifference row;
  for (Index j = 0; j < keys; ++j) {
    const double p = exact[j], q = approximate[j];
    row.error += (q - p) * (q - p);
    row.norm += p * p;
    row.variation += 0.5 * std::abs(q - p);
    if (p > 0 && q > 0) {
      const double log = std::log(p / q);  // found once for both sums, as it takes most of the time
      row.kl += p * log;
      row.reverse_kl -= q * log;
    } else if (p > 0) {
      row.kl += infinite;
    } else if (q > 0) {
      row.reverse_kl += infinite;
    }
    if (q < 0 || p < 0) row.kl = row.reverse_kl = not_defined;
  }
  const auto size = static_cast<std::size_t>(keys);
  row.top_recall = top_recall({approximate, size}, {exact, size});
  return row;
}

/// The share of some weights that falls on the support of P~ in a row.
template <class Weight>
double share_on_support(const Support& support, Index i, Weight weight) {
  const Index keys = support.plan().keys();
  double kept = 0, all = 0;
  support.for_parts(i, {0, keys}, [&](const Support::Part& part) {
    for (Index j = part.keys.begin; j < part.keys.end; ++j) kept += weight(j);
  });
  for (Index j = 0; j < keys; ++j) all += weight(j);
  return kept / all;
}

/// The share of a row's weights on the support. If a sink leaves the row less than
/// `least_in_float`, where a float has few digits or none, the weights are computed again from the
/// logits.
double mass_on_support(const Support& support, Index i, const float* exact,
                       const Problem& problem) {
  constexpr double least_in_float = 1e-30;
  const Index keys = problem.keys();
  if (!(*std::max_element(exact, exact + keys) < least_in_float))
    return share_on_support(support, i, [&](Index j) { return double{exact[j]}; });
  std::vector<double> logs(keys, -infinite);
  for (Index j = 0; j < keys; ++j)
    if (problem.admits(i, j)) logs[j] = problem.logit(i, j);
  const double top = std::ranges::max(logs);
  return share_on_support(support, i, [&](Index j) { return std::exp(logs[j] - top); });
}

/// Whether the weights of a row with this many admissible keys are equal up to rounding. Weights
/// that are 0 in fp32 because of a sink are not equal to the others.
bool are_equal(const float* weights, Index keys, Index admissible) {
  // Some 16 roundings of 6e-8: of a logit, its exponential and their sum.
  constexpr float roundings = 1e-6f;
  float least = std::numeric_limits<float>::infinity(), most = 0;
  Index positive = 0;
  for (Index j = 0; j < keys; ++j)
    if (weights[j] > 0) {
      least = std::min(least, weights[j]);
      most = std::max(most, weights[j]);
      ++positive;
    }
  return positive == 0 || (positive == admissible && most <= least * (1 + roundings));
}

/// False for plans without row sums: means of tree nodes, mixed values.
bool has_nan_sum(const Output& output, Index i) {
  return !output.lse.empty() && std::isnan(output.lse[i]);
}

/// The share of a row's sum that its sink takes.
double sink_share(double sink, const Output& output, Index i) {
  return std::min(1.0, std::exp(sink - static_cast<double>(output.lse[i])));
}

/// The part of 1 that a row of weights leaves.
double rest_of(const float* weights, Index keys) {
  return std::clamp(1 - std::accumulate(weights, weights + keys, 0.0), 0.0, 1.0);
}

/// The sink is one more outcome of a row: p of P, q of P~.
void count_sink(double q, double p, RowDifference& row) {
  row.variation += std::abs(q - p) / 2;
  if (p > 0) row.kl += q > 0 ? p * std::log(p / q) : infinite;
  if (q > 0) row.reverse_kl += p > 0 ? q * std::log(q / p) : infinite;
}

// The dropped mass of a row; mass that rounding explains is not dropped.
float dropped(double kept) {
  return 1 - kept < row_sum_rounding ? 0.0f : static_cast<float>(1 - kept);
}

/// One number for each row that was read.
template <class Get>
std::vector<double> each(const std::vector<RowDifference>& rows, Get get) {
  std::vector<double> values;
  for (const RowDifference& row : rows) values.push_back(std::invoke(get, row));
  return values;
}

Divergence mean_divergence(const RowBands& sample, const std::vector<double>& rows) {
  Divergence mean;
  if (any_not_defined(rows)) {
    mean.value = not_defined;
    return mean;
  }
  mean.infinite_rows = std::ranges::count(rows, infinite);
  if (mean.infinite_rows == 0) {
    static_cast<Estimate&>(mean) = mean_of(sample, rows);
    return mean;
  }
  std::vector<double> is_infinite;
  for (const double row : rows) is_infinite.push_back(row == infinite);
  mean.value = infinite;
  mean.infinite_share = mean_of(sample, is_infinite);
  return mean;
}

void compare_attention(const Operator& approximate, const Output& approximate_output,
                       const Operator& exact, const Output& exact_output, const Support& support,
                       const RowBands& sample, Metrics& m, Run& run) {
  const auto [queries, keys] = exact.plan().lengths;
  const auto& rule = exact.problem().rule;
  const bool has_sink = rule && rule->sink;
  const double sink = has_sink ? *rule->sink : 0;
  const bool complete = support.complete(run.stop);
  // The sums in a file are not those of its P.
  const bool is_imported = is_read(approximate.plan());
  std::vector<RowDifference> rows;
  std::vector<double> dropped_of_rows;
  if (!complete) m.dropped_mass.assign(queries, std::numeric_limits<float>::quiet_NaN());
  Run quiet = run.quiet();  // progress counts rows
  for (const IndexRange& band : sample.bands) {
    // The device finds masses beside a sink from weights that may have no digits left.
    const auto there = has_sink && (is_imported || !complete)
                           ? std::nullopt
                           : approximate.compare_rows(exact, band, quiet);
    std::vector<double> left_to_sink;  // by each row of the band of an imported P~
    if (there) {
      rows.insert(rows.end(), there->begin(), there->end());
    } else {
      const Matrix p = exact.tile(band, {0, keys}, quiet),
                   q = approximate.tile(band, {0, keys}, quiet);
      for (Index i = band.begin; i < band.end; ++i) {
        RowDifference row = compare_rows(q.row(i - band.begin), p.row(i - band.begin), keys);
        if (!complete)
          row.mass = mass_on_support(support, i, p.row(i - band.begin), exact.problem());
        rows.push_back(row);
        if (has_sink && is_imported) left_to_sink.push_back(rest_of(q.row(i - band.begin), keys));
      }
    }
    for (Index i = band.begin; i < band.end; ++i) {
      RowDifference& row = rows[rows.size() - static_cast<std::size_t>(band.end - i)];
      const Index its_keys = admissible_keys(exact.plan(), i);
      double sum = 1;  // of the row of P
      if (has_sink) {
        const double p = sink_share(sink, exact_output, i);
        const double q =
            is_imported ? left_to_sink[i - band.begin] : sink_share(sink, approximate_output, i);
        count_sink(q, p, row);
        sum -= p;
      }
      if (std::isnan(row.reverse_kl)) row.kl = not_defined;  // a negative entry
      if (its_keys == 0) row.mass = 1;
      if (its_keys == 0 || std::isnan(row.top_recall[0])) row.top_recall.fill(1);  // no weight
      row.mass = std::min(1.0, row.mass);
      if (row.variation > 1 && row.variation < 1 + row_sum_rounding) row.variation = 1;
      // The sum of squares is least if all weights are equal: rows near that are looked at again.
      // The sums are rounded as the weights are: by some percent if logits are in the ten thousands
      // (the lowest number of fp16 as a bias) or if a sink leaves a thousandth.
      constexpr double near = 1.05, most_of_a_sink = 0.999;
      if (its_keys > 1 && (sum < 1 - most_of_a_sink ||
                           row.norm * static_cast<double>(its_keys) <= near * sum * sum))
        m.rows_of_equal_weights +=
            are_equal(exact.tile({i, i + 1}, {0, keys}, quiet).row(0), keys, its_keys);
      const bool not_finite =
          has_nan_sum(exact_output, i) || (!is_imported && has_nan_sum(approximate_output, i));
      if (not_finite || !std::isfinite(row.error) || !std::isfinite(row.norm))
        row = row_not_defined();
      if (!complete) {
        m.dropped_mass[i] = dropped(row.mass);
        dropped_of_rows.push_back(static_cast<double>(m.dropped_mass[i]));
      }
    }
    run.reached(static_cast<double>(rows.size()) / static_cast<double>(sample.rows));
  }
  const auto errors = each(rows, &RowDifference::error), norms = each(rows, &RowDifference::norm),
             variation = each(rows, &RowDifference::variation),
             reverse = each(rows, &RowDifference::reverse_kl);
  if (std::ranges::any_of(errors, [](double error) { return error != 0; }))
    m.attention_rel_fro = root_of(ratio_of_sums(sample, errors, norms));
  if (!complete) m.dropped_mass_p50 = quantile_estimate(sample, dropped_of_rows, 0.5);
  const bool defined = !any_not_defined(errors);
  m.mass_kept = complete ? Estimate{defined ? 1.0 : not_defined, 0.0}
                         : mean_of(sample, each(rows, &RowDifference::mass));
  m.attention_kl = mean_divergence(sample, each(rows, &RowDifference::kl));
  if (!defined || !any_not_defined(reverse))
    m.attention_reverse_kl = mean_divergence(sample, reverse);
  for (std::size_t c = 0; c < top_counts.size(); ++c)
    m.top_recall[c] =
        mean_of(sample, each(rows, [c](const RowDifference& row) { return row.top_recall[c]; }));
  m.attention_tv = mean_of(sample, variation);
  m.attention_tv_p90 = quantile_estimate(sample, variation, 0.9);
  m.attention_tv_max = largest_of(variation);
}

}  // namespace

std::optional<double> output_rel_fro(MatrixView approximate, MatrixView exact) {
  if (exact.empty()) return {};
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
  const auto [queries, keys] = exact.plan().lengths;
  Metrics m{.queries = queries};
  if (!exact_output.z.empty()) compare_outputs(approximate_output.z, exact_output.z, m);
  if (!has_entries(approximate.plan())) return m;
  run.check();
  const Support support(approximate.plan());
  m.density = support.pairs(run.stop) / (static_cast<double>(queries) * static_cast<double>(keys));
  if (&approximate == &exact) {
    m.rows = queries;
    m.sections = section_mass(exact, row_bands(exact.plan().lengths, max_entries, seed), run);
    const bool defined = std::ranges::all_of(
        // A row without keys has -∞.
        exact_output.lse, [](float sum) { return std::isfinite(sum) || sum < 0; });
    const Estimate same{defined ? 0.0 : not_defined, 0.0}, whole{defined ? 1.0 : not_defined, 0.0};
    m.attention_rel_fro = m.attention_tv = same;
    m.attention_tv_p90 = same;
    m.attention_tv_max = same.value;
    m.attention_kl = Divergence{same};
    m.attention_reverse_kl = m.attention_kl;
    m.mass_kept = whole;
    m.top_recall.fill(whole);
    return m;
  }
  const RowBands sample = row_bands(exact.plan().lengths, max_entries, seed,
                                    row_sizes(m, approximate_output, exact_output, exact.plan()));
  m.rows = sample.rows;
  m.sections = section_mass(approximate, sample, run);
  compare_attention(approximate, approximate_output, exact, exact_output, support, sample, m, run);
  return m;
}

}  // namespace fovea
