// Attention on the levels of H-Transformer-1D, against its formulas in float64.
#include "analysis/level_mass.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "data/error.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index block = 4;

/// l(i, j): banded Eq. 21-23, nested appendix A.5.
int level_of(Index i, Index j, bool nested) {
  const Index bi = i / block, bj = j / block;
  if (nested) return std::max(0, static_cast<int>(std::bit_width(std::uint64_t(bi ^ bj))) - 1);
  int level = 0;
  while (std::abs((bi >> level) - (bj >> level)) > 1) ++level;
  return level;
}

/// The mean of the rows of a cluster, or its first row.
std::vector<double> vector_of(MatrixView x, Index cluster, int level, bool first) {
  const Index begin = cluster << level, end = std::min((cluster + 1) << level, x.rows);
  std::vector<double> out(static_cast<std::size_t>(x.cols));
  const Index last = first ? begin + 1 : end;
  for (Index i = begin; i < last; ++i)
    for (Index c = 0; c < x.cols; ++c)
      out[static_cast<std::size_t>(c)] +=
          static_cast<double>(x(i, c)) / static_cast<double>(last - begin);
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

struct Masses {
  std::vector<double> exact = std::vector<double>(8), approximate = exact;
};

/// Means over the rows of the softmax of fine logits, and of those of clusters, level by level.
Masses by_formula(const Problem& p, bool nested) {
  Masses out;
  const Index n = p.n();
  for (Index i = 0; i < n; ++i) {
    std::vector<double> exact(8), approximate(8);
    double exact_sum = 0, approximate_sum = 0;
    for (Index j = 0; j < (p.causal ? i + 1 : n); ++j) {
      const int l = level_of(i, j, nested);
      const double fine =
          std::exp(p.scale * dot(vector_of(p.q, i, 0, false), vector_of(p.k, j, 0, false)));
      // Under a causal mask the standard coarse query is the first of its cluster.
      const double coarse = std::exp(
          p.scale * dot(vector_of(p.q, i >> l, l, p.causal), vector_of(p.k, j >> l, l, false)));
      exact[static_cast<std::size_t>(l)] += fine;
      exact_sum += fine;
      approximate[static_cast<std::size_t>(l)] += coarse;
      approximate_sum += coarse;
    }
    for (std::size_t l = 0; l < 8; ++l) {
      out.exact[l] += exact[l] / exact_sum / static_cast<double>(n);
      out.approximate[l] += approximate[l] / approximate_sum / static_cast<double>(n);
    }
  }
  return out;
}

Settings settings_of(bool nested) {
  return {{"block", std::to_string(block)}, {"structure", nested ? "nested" : "banded"}};
}

}  // namespace

TEST_CASE("level masses are the means of exact and approximate attention on a level's pairs") {
  for (const bool nested : {false, true})
    for (const bool causal : {false, true}) {
      INFO("nested " << nested << " causal " << causal);
      const Problem problem = make_data(Data::gaussian, 53, 5, 2, causal);
      const Backend& backend = *backends().front();
      const Instance x = make_instance(backend, problem, "h1d", settings_of(nested)),
                     exact = make_instance(backend, problem, "exact", {});
      Profile profile;
      Run run{profile};
      const auto found = level_mass(*x.bound, *exact.bound, run);
      const Masses expected = by_formula(problem, nested);
      REQUIRE(found.size() == 4);  // 14 blocks of 4, 2 at the top
      double sum = 0;
      for (const LevelMass& mass : found) {
        CHECK(mass.level == &mass - found.data());
        const auto l = static_cast<std::size_t>(mass.level);
        // Sums of entries of P in float32, each with some roundings of 6e-8.
        CHECK(mass.exact.value == doctest::Approx(expected.exact[l]).epsilon(1e-5));
        CHECK(mass.approximate.value == doctest::Approx(expected.approximate[l]).epsilon(1e-5));
        CHECK_FALSE(mass.sampled);
        CHECK(mass.exact.standard_error == 0);
        sum += mass.exact.value;
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    }
}

TEST_CASE(
    "level masses of sampled rows are near those of all rows, and say that they are sampled") {
  const Problem problem = make_data(Data::gaussian, 512, 4, 2, false);
  const Backend& backend = *backends().front();
  const Instance x = make_instance(backend, problem, "h1d", {{"block", "16"}}),
                 exact = make_instance(backend, problem, "exact", {});
  Profile profile;
  std::stop_source stop;
  Run run{profile, stop.get_token()};
  const auto all = level_mass(*x.bound, *exact.bound, run);
  const auto some = level_mass(*x.bound, *exact.bound, run, 128 * 512, 3);
  REQUIRE(all.size() == some.size());
  for (std::size_t l = 0; l < all.size(); ++l) {
    CHECK(some[l].sampled);
    CHECK(some[l].exact.standard_error > 0);
    // Five standard errors: one of a million such means is further away.
    CHECK(std::abs(some[l].exact.value - all[l].exact.value) < 5 * some[l].exact.standard_error);
    CHECK(std::abs(some[l].approximate.value - all[l].approximate.value) <
          5 * some[l].approximate.standard_error);
  }
  const Instance whole = make_instance(backend, problem, "h1d", {{"block", "512"}});
  CHECK(level_mass(*whole.bound, *exact.bound, run).empty());
  stop.request_stop();
  CHECK_THROWS_AS(level_mass(*x.bound, *exact.bound, run), Cancelled);
}
