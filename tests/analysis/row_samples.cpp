// Samples of rows, and what is estimated from them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"
#include "analysis/row_sizes.h"
#include "data/random.h"

using namespace fovea;

namespace {

constexpr Index n = 200;

RowBands sample_of(Index rows, std::uint64_t seed, const std::vector<double>& sizes) {
  return row_bands({n, n}, static_cast<double>(rows * n), seed, sizes);
}

/// Three rows have nearly all of it.
std::vector<double> uneven() {
  std::vector<double> sizes;
  for (Index i = 0; i < n; ++i) sizes.push_back(i % 70 == 9 ? 30 : 1.0 / double(1 + i));
  return sizes;
}

}  // namespace

TEST_CASE("a sample of rows by size has each row with its chance") {
  constexpr Index rows = 40;
  constexpr int draws = 20000;
  std::vector<double> found(n), chance(n);
  for (int seed = 0; seed < draws; ++seed) {
    const RowBands sample = sample_of(rows, std::uint64_t(seed), uneven());
    REQUIRE(sample.sampled());
    REQUIRE(sample.rows == rows);
    REQUIRE(std::ssize(sample.bands) == rows);
    for (std::size_t k = 0; k < sample.bands.size(); ++k) {
      const IndexRange band = sample.bands[k];
      REQUIRE(band.size() == 1);
      if (k > 0) REQUIRE(band.begin > sample.bands[k - 1].begin);
      found[std::size_t(band.begin)] += 1.0 / draws;
      chance[std::size_t(band.begin)] = sample.chance(k);
    }
  }
  double all = 0;
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    CAPTURE(i);
    all += chance[i];
    CHECK(chance[i] >= 0.5 * double(rows) / double(n));
    // Five standard deviations of a share of the draws, and Pareto sampling's own deviation from
    // the chances, which is of the order of 1 / rows of them: measured 0.4 %.
    const double deviation = std::sqrt(chance[i] * (1 - chance[i]) / draws);
    CHECK(std::abs(found[i] - chance[i]) <= 5 * deviation + 0.01 * chance[i]);
    if (i % 70 == 9) CHECK(found[i] == doctest::Approx(1));
  }
  CHECK(all == doctest::Approx(rows));
}

TEST_CASE("sizes that say nothing give all rows the same chance") {
  for (const double size : {1.0, 0.0, std::nan(""), HUGE_VAL}) {
    CAPTURE(size);
    const RowBands sample = sample_of(50, 3, std::vector<double>(n, size));
    for (std::size_t k = 0; k < 50; ++k) CHECK(sample.chance(k) == doctest::Approx(0.25));
  }
}

TEST_CASE("a head that is read whole is not sampled, whatever the sizes") {
  const RowBands all = sample_of(n, 0, uneven());
  CHECK_FALSE(all.sampled());
  CHECK(all.chance(0) == 1);
  const std::vector<double> above(n, 3.0), below(n, 2.0);
  CHECK(ratio_of_sums(all, above, below).value == doctest::Approx(1.5));
  CHECK(ratio_of_sums(all, above, below).standard_error == 0);
}

TEST_CASE("with equal chances a mean has the textbook's standard error") {
  const RowBands sample = row_bands({n, n}, 60.0 * n, 1);
  std::vector<double> values;
  Random random(1, 2);
  for (Index i = 0; i < sample.rows; ++i) values.push_back(random.normal());
  const auto m = double(sample.rows);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / m;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const Estimate said = mean_of(sample, values);
  CHECK(said.value == doctest::Approx(mean));
  // s² / m, times the share of the rows that are not in the sample (Cochran, 1977, eq. 2.20).
  CHECK(said.standard_error ==
        doctest::Approx(std::sqrt(squares / (m - 1) / m * (1 - m / double(n)))));
}

TEST_CASE("what few rows have is not missed") {
  // A sample of 40 even rows misses all three of the large ones half of the time.
  const std::vector<double> sizes = uneven(), ones(n, 1.0);
  const double truth = std::accumulate(sizes.begin(), sizes.end(), 0.0) / double(n);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RowBands sample = sample_of(40, seed, sizes);
    std::vector<double> values;
    for (const IndexRange& band : sample.bands) values.push_back(sizes[std::size_t(band.begin)]);
    const Estimate said = mean_of(sample, values);
    CHECK(std::abs(said.value - truth) <= 5 * said.standard_error);
    CHECK(said.standard_error < 0.1 * truth);
  }
}

TEST_CASE("standard errors are right where most of a sample is certain") {
  // Each row has 3/4 of the size of the one before: of 40 rows many are in each sample.
  constexpr Index rows = 40;
  constexpr int draws = 4000;
  std::vector<double> sizes, values;
  Random random(1, 2);
  for (Index i = 0; i < n; ++i) {
    sizes.push_back(std::pow(0.75, double(i)));
    values.push_back(random.normal());
  }
  const double truth = std::accumulate(values.begin(), values.end(), 0.0) / double(n);
  double found = 0, said = 0, certain = 0;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    const RowBands sample = sample_of(rows, seed, sizes);
    std::vector<double> read;
    for (std::size_t k = 0; k < sample.bands.size(); ++k) {
      read.push_back(values[std::size_t(sample.bands[k].begin)]);
      CHECK(sample.chance(k) >= 0.5 * double(rows) / double(n));
      certain += sample.chance(k) == 1 ? 1.0 / draws : 0;
    }
    const Estimate mean = mean_of(sample, read);
    found += std::pow(mean.value - truth, 2) / draws;
    said += std::pow(mean.standard_error, 2) / draws;
  }
  CHECK(certain > 10);
  // A variance from 4000 draws is off by sqrt(2 / 4000) = 2.2 %, and its linear estimate from 25
  // drawn rows is too small by about 1 / 25.
  CHECK(said / found == doctest::Approx(1).epsilon(0.15));
}

TEST_CASE("quantiles count a row for as many as it stands for") {
  RowBands sample{.bands = {}, .rows = 3, .queries = 6, .chances = {1, 0.25, 1}};
  // 1 once, 2 four times, 3 once.
  const std::vector<double> values{3, 2, 1};
  CHECK(quantile_of(sample, values, 1.0 / 6) == 1);
  CHECK(quantile_of(sample, values, 0.2) == 2);
  CHECK(quantile_of(sample, values, 5.0 / 6) == 2);
  CHECK(quantile_of(sample, values, 0.9) == 3);
}

TEST_CASE("a row's size is the sum of its shares of what is known of all rows") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  Output exact{.z = Matrix(4, 1), .lse = {0, 1, 2, -infinite}}, approximate = exact;
  const Plan plan{.lengths = {4, 4}, .form = TilePlan{}};
  // Row sums that are half and a quarter less: squares 1/4 and 9/16 of 13/16.
  approximate.lse[0] -= std::log(2.0f);
  approximate.lse[2] -= std::log(4.0f);
  std::vector<double> sizes = row_sizes({}, approximate, exact, plan);
  REQUIRE(sizes.size() == 4);
  CHECK(sizes[0] == doctest::Approx(4.0 / 13));
  CHECK(sizes[1] == 0);
  CHECK(sizes[2] == doctest::Approx(9.0 / 13));
  CHECK(sizes[3] == 0);  // no keys in either
  // Outputs 1, 2, 6 around 3: squares 4, 1, 9 of 14. Errors 0, 2, 1: squares 0, 4, 1 of 5.
  for (const auto& [i, z] : {std::pair<Index, float>{0, 1.0f}, {1, 2.0f}, {2, 6.0f}})
    exact.z(i, 0) = z;
  Metrics metrics;
  metrics.output_rel_fro = 0.3;
  metrics.token_error = {0, 2, 1, 0};
  sizes = row_sizes(metrics, approximate, exact, plan);
  CHECK(sizes[0] == doctest::Approx(4.0 / 13 + 4.0 / 14));
  CHECK(sizes[1] == doctest::Approx(1.0 / 14 + 4.0 / 5));
  CHECK(sizes[2] == doctest::Approx(9.0 / 13 + 9.0 / 14 + 1.0 / 5));
  CHECK(sizes[3] == 0);
  // Errors of rounding say nothing, nor does an approximation without row sums.
  metrics.output_rel_fro = 1e-6;
  approximate.lse.clear();
  sizes = row_sizes(metrics, approximate, exact, plan);
  CHECK(sizes[1] == doctest::Approx(1.0 / 14));
  // Infinite errors cannot be shared out.
  metrics.output_rel_fro = infinite;
  metrics.token_error[0] = infinite;
  CHECK(row_sizes(metrics, approximate, exact, plan)[0] == doctest::Approx(4.0 / 14));
  exact.lse.assign(4, -infinite);
  for (const double size : row_sizes(metrics, approximate, exact, plan)) CHECK(size == 0);
}
