// Features under a causal mask on the device, against the CPU back end.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "backend/backends.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// No directions: elu features, one for each of the d columns.
std::shared_ptr<const Plan> feature_plan(Index n, Index features, Index d) {
  Plan plan{.lengths = {n, n}, .causal = true, .form = FeaturePlan{}};
  if (features > 0)
    plan.form =
        FeaturePlan{.map = FeatureMap::exponential, .directions = gaussian(features, d, 11)};
  return std::make_shared<const Plan>(std::move(plan));
}

struct FeatureShape {
  Index n, features, d, dv;
};

struct Pair {
  Problem problem;
  std::unique_ptr<Backend> cpu_backend = make_cpu_backend();
  Profile profile;
  Run run{profile};
  std::unique_ptr<Operator> cpu, cuda;

  explicit Pair(const FeatureShape& s, Data data = Data::gaussian)
      : problem(make_data(data, s.n, s.d, s.dv, true)) {
    const auto plan = feature_plan(s.n, s.features, s.d);
    cpu = cpu_backend->bind(plan, problem, run);
    cuda = backends().front()->bind(plan, problem, run);
  }
};

double largest_difference(MatrixView a, MatrixView b) {
  double worst = 0;
  for (Index i = 0; i < a.rows; ++i)
    for (Index c = 0; c < a.cols; ++c)
      if (a(i, c) != b(i, c))
        worst = larger_error(worst, static_cast<double>(a(i, c)) - static_cast<double>(b(i, c)));
  return worst;
}

double largest(MatrixView m) {
  double most = 0;
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c)
      most = std::max(most, std::abs(static_cast<double>(m(i, c))));
  return most;
}

// The relative error of an entry on either back end. Logarithms of features are sums of d products,
// each rounded relative to its size, of at most |g||x^| (four standard deviations each, and half
// |x^|^2 as much again): two of them meet, are added to the logarithm of a row and go through exp2,
// which is good to two units in the last place. The products of features are sums of as many as
// there are features, and rows of as many as there are keys.
double entry_unit(const FeatureShape& s) {
  const double size = 16 * static_cast<double>(s.d) + 16;
  return 0x1p-23 * (4 * size + 8) + 0x1p-24 * static_cast<double>(s.features + s.n);
}

void check_features(const FeatureShape& s) {
  CAPTURE(s.n);
  CAPTURE(s.features);
  CAPTURE(s.d);
  CAPTURE(s.dv);
  Pair pair(s);
  const double unit = entry_unit(s);
  const Output ours = pair.cuda->apply(pair.problem.v, pair.run),
               theirs = pair.cpu->apply(pair.problem.v, pair.run);
  CHECK(largest_difference(ours.z, theirs.z) <= 2 * unit * largest(pair.problem.v));
  double sums = 0;
  for (std::size_t i = 0; i < ours.lse.size(); ++i)
    sums =
        larger_error(sums, static_cast<double>(ours.lse[i]) - static_cast<double>(theirs.lse[i]));
  CHECK(sums <= unit);
  const IndexRange all{0, s.n};
  const Matrix p = pair.cuda->tile(all, all, pair.run);
  CHECK(largest_difference(p, pair.cpu->tile(all, all, pair.run)) <= 2 * unit);
  Index later = 0;
  for (Index i = 0; i < s.n; ++i)
    for (Index j = i + 1; j < s.n; ++j) later += p(i, j) != 0;
  CHECK(later == 0);
}

}  // namespace

// A chunk has 32 tokens; blocks take 64 features, 64 columns of V and 32 columns of Q and K.
TEST_CASE("cuda: causal features: around the sizes of chunks and blocks Z and P are the CPU's") {
  for (const FeatureShape& s : {FeatureShape{31, 0, 33, 1},
                                {32, 0, 65, 65},
                                {33, 1, 1, 63},
                                {64, 33, 31, 64},
                                {65, 64, 32, 3},
                                {96, 65, 3, 130},
                                {97, 31, 65, 2}})
    check_features(s);
}

// With so many features six chunks go together, and with more than 256 columns V is cut.
TEST_CASE("cuda: causal features: sums go on from one group of chunks to the next") {
  check_features({.n = 197, .features = 20000, .d = 2, .dv = 4});
  check_features({.n = 40, .features = 5, .d = 2, .dv = 259});
}

// Six chunks go together without values, five with these.
TEST_CASE("cuda: causal features: the same bits every time, before and after Z was computed") {
  Pair pair({.n = 165, .features = 20000, .d = 1, .dv = 16});
  const IndexRange rows{140, 165}, cols{3, 150};
  const Matrix before = pair.cuda->tile(rows, cols, pair.run);
  const Output first = pair.cuda->apply(pair.problem.v, pair.run),
               second = pair.cuda->apply(pair.problem.v, pair.run);
  const Matrix after = pair.cuda->tile(rows, cols, pair.run);
  CHECK(largest_difference(before, after) == 0);
  CHECK(largest_difference(first.z, second.z) == 0);
  CHECK(first.lse == second.lse);
}

// The device can compare only what is on it.
TEST_CASE("cuda: causal features are on the device, and compared with exact attention there") {
  Pair pair({.n = 70, .features = 40, .d = 3, .dv = 5});
  const Instance exact = make_instance(*backends().front(), pair.problem, "exact", {});
  const IndexRange all{0, 70};
  const auto rows = pair.cuda->compare_rows(*exact.bound, all, pair.run);
  REQUIRE(rows);
  const Matrix p = exact.all(), q = pair.cuda->tile(all, all, pair.run);
  double worst_mass = 0, worst_error = 0;
  for (Index i = 0; i < 70; ++i) {
    double mass = 0, error = 0;
    for (Index j = 0; j < 70; ++j) {
      const double gap = static_cast<double>(q(i, j)) - static_cast<double>(p(i, j));
      mass += static_cast<double>(p(i, j));
      error += gap * gap;
    }
    const RowDifference& found = (*rows)[static_cast<std::size_t>(i)];
    worst_mass = larger_error(worst_mass, found.mass - mass);  // every pair has weight
    worst_error = larger_error(worst_error, found.error - error);
  }
  // The same numbers, summed in double in another order: 70 roundings.
  CHECK(worst_mass <= 70 * 0x1p-52);
  CHECK(worst_error <= 70 * 0x1p-52);
}

TEST_CASE("cuda: causal features: a stopped run is cancelled") {
  Pair pair({.n = 70, .features = 40, .d = 3, .dv = 5});
  std::stop_source source;
  source.request_stop();
  Run run{pair.profile, source.get_token()};
  CHECK_THROWS_AS(pair.cuda->apply(pair.problem.v, run), Cancelled);
  CHECK_THROWS_AS(pair.cuda->tile({0, 70}, {0, 70}, run), Cancelled);
}
