// A step of learning a tree on the device, against plain C++; and the trees that come of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "backend/backends.h"
#include "harness.h"
#include "learning/trainer.h"
#include "variants/tree_builder.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct BatchShape {
  Index queries, d, dv;
  std::vector<Index> leaf_sizes;
  bool causal = false;
  float size = 1;  // of logits
};

struct Batch {
  Matrix queries, targets, keys, values;
  std::vector<std::int32_t> query_leaf;
  std::vector<Index> admissible, place, begin{0};

  explicit Batch(const BatchShape& s)
      : queries(gaussian(s.queries, s.d, 1)), targets(gaussian(s.queries, s.dv, 2)) {
    for (const Index size : s.leaf_sizes) begin.push_back(begin.back() + size);
    const Index count = begin.back();
    keys = gaussian(count, s.d, 3);
    values = gaussian(count, s.dv, 4);
    for (Index i = 0; i < s.queries; ++i) {
      for (Index c = 0; c < s.d; ++c) queries(i, c) *= s.size;
      // The last leaf has no query.
      query_leaf.push_back(
          static_cast<std::int32_t>(i * 5 % std::max<Index>(1, std::ssize(s.leaf_sizes) - 1)));
      if (s.causal) admissible.push_back(i * count / s.queries + i % 2);
    }
    for (Index j = 0; j < count; ++j) place.push_back(j * 7 % count);  // 7 divides no count here
  }
  TokenBatch view() const {
    return {.queries = queries,
            .targets = targets,
            .query_leaf = query_leaf,
            .admissible = admissible,
            .keys = keys,
            .values = values,
            .place = place,
            .leaf_begin = begin,
            .scale = 0.5f};
  }
};

double largest_norm(const Matrix& m) {
  double most = 0;
  for (Index i = 0; i < m.rows(); ++i) {
    double squares = 0;
    for (Index c = 0; c < m.cols(); ++c) squares += std::pow(static_cast<double>(m(i, c)), 2);
    most = std::max(most, squares);
  }
  return std::sqrt(most);
}

double gradient_distance(const Matrix& a, const Matrix& b) {
  double worst = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index c = 0; c < a.cols(); ++c)
      worst = larger_error(worst, static_cast<double>(a(i, c)) - static_cast<double>(b(i, c)));
  return worst;
}

MembershipGradient on_device(const TokenBatch& batch) {
  Profile profile;
  Run run{profile};
  const auto found = backends().front()->leaf_loss(batch, run);
  REQUIRE(found);
  return {found->loss, Matrix::copy_of(found->queries), Matrix::copy_of(found->keys)};
}

// In units of the squares of values and targets: logits are sums of d products, whose rounding the
// exponentials multiply by the size of the logits; outputs are sums over a leaf's keys, losses over
// dv columns. A key's share enters as p / (1 - p) <= 1, twice as sensitive as p, and each of the
// two results may be off by as much.
double unit_of(const BatchShape& s, const Batch& batch) {
  const double logit = 0.5 * largest_norm(batch.queries) * largest_norm(batch.keys);
  return 4 * 0x1p-24 *
         (8 + (4 + static_cast<double>(s.d)) * std::max(1.0, logit) +
          static_cast<double>(batch.keys.rows() + s.dv));
}

void check_gradients(const BatchShape& s) {
  CAPTURE(s.queries);
  CAPTURE(s.d);
  CAPTURE(s.dv);
  CAPTURE(s.causal);
  CAPTURE(s.size);
  const Batch batch(s);
  const MembershipGradient ours = on_device(batch.view()), theirs = leaf_loss(batch.view());
  const double square = std::pow(largest_norm(batch.values) + largest_norm(batch.targets), 2),
               unit = unit_of(s, batch) * square;
  REQUIRE(ours.queries.rows() == theirs.queries.rows());
  REQUIRE(ours.queries.cols() == theirs.queries.cols());
  REQUIRE(ours.keys.rows() == theirs.keys.rows());
  REQUIRE(ours.keys.cols() == theirs.keys.cols());
  const auto queries = static_cast<double>(s.queries);
  CHECK(std::abs(ours.loss - theirs.loss) <= queries * unit);
  CHECK(gradient_distance(ours.queries, theirs.queries) <= unit);
  CHECK(gradient_distance(ours.keys, theirs.keys) <= queries * unit);
}

}  // namespace

// Blocks take 16 or 32 queries, 64 or 128 keys, 32 or 64 columns.
TEST_CASE("cuda: learning: the gradient of a step is that of plain C++") {
  for (const bool causal : {false, true})
    for (const float size : {0.0f, 1.0f, 30.0f}) {
      check_gradients({1, 1, 1, {1}, causal, size});
      check_gradients({9, 3, 3, {4, 0, 1, 5, 3}, causal, size});
      check_gradients({33, 33, 65, {40, 3, 0, 60, 27}, causal, size});
      check_gradients({70, 16, 130, {135, 1, 20}, causal, size});
    }
}

// For a key with all the weight of its leaf, 1 - p says nothing of what the others give: beside it
// they are 0 in float32. Two keys of another leaf share its weight.
TEST_CASE("cuda: learning: keys that hold the weight of their leaf") {
  Batch batch({.queries = 20, .d = 2, .dv = 5, .leaf_sizes = {6, 9, 2}});
  for (Index i = 0; i < 20; ++i) {
    batch.queries(i, 0) = 400;
    batch.queries(i, 1) = 0;
  }
  for (Index j = 0; j < 17; ++j) batch.keys(j, 0) = j == 2 || j == 7 || j == 12 ? 1.0f : 0.0f;
  const MembershipGradient ours = on_device(batch.view()), theirs = leaf_loss(batch.view());
  const double square = std::pow(largest_norm(batch.values) + largest_norm(batch.targets), 2);
  // Logits are 200 or 0, both exact: sums of 17 weights, of 5 columns and of 20 queries.
  CHECK(gradient_distance(ours.keys, theirs.keys) <= 20 * 0x1p-23 * (17 + 5 + 8) * square);
  double moved = 0;
  for (Index j : {2, 7, 12})
    for (Index l = 0; l < 3; ++l) moved = std::max(moved, std::abs(double(ours.keys(j, l))));
  CHECK(moved > 0.1 * square);
}

TEST_CASE("cuda: learning: more leaves than a grid has blocks along y") {
  std::vector<Index> sizes(65600, 0);
  sizes[1] = 3;
  sizes.back() = 2;
  check_gradients({2, 2, 2, sizes});
}

TEST_CASE("cuda: learning: the same bits every time") {
  const Batch batch({.queries = 33, .d = 5, .dv = 70, .leaf_sizes = {40, 30, 3}});
  const MembershipGradient a = on_device(batch.view()), b = on_device(batch.view());
  CHECK(a.loss == b.loss);
  CHECK(gradient_distance(a.queries, b.queries) == 0);
  CHECK(gradient_distance(a.keys, b.keys) == 0);
}

TEST_CASE("cuda: learning: the same seed gives the tree of plain C++") {
  Profile profile;
  Run run{profile};
  const auto cpu = make_cpu_backend();
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const Problem problem = make_data(Data::gaussian, 150, 6, 5, causal);
    const auto set = std::make_shared<const LearningSet>(make_learning_set(problem, 1, *cpu, run));
    const Tree start = median_tree(set->keys, {{2, 2, 2}, true}, *cpu, run);
    const LearningOptions options{.batch = 32, .rate = 0.01};
    Trainer ours(set, start, options, run), theirs(set, start, options, run);
    const std::vector<float> first = theirs.state().parameters;
    constexpr Index steps = 10;
    ours.learn(steps, run, backends().front().get());
    theirs.learn(steps, run, cpu.get());
    const std::vector<float> a = ours.state().parameters, b = theirs.state().parameters;
    REQUIRE(a.size() == b.size());
    double apart = 0, moved = 0;
    for (std::size_t w = 0; w < a.size(); ++w) {
      apart = larger_error(apart, double(a[w]) - double(b[w]));
      moved = std::max(moved, std::abs(double(b[w]) - double(first[w])));
    }
    CAPTURE(apart);
    CAPTURE(moved);
    // A weight moves by at most about the rate in a step, in proportion to its gradient over the
    // root of its mean square: rounding of the gradients, 2e-5 of their size, moves it by that
    // share of the rate, unless all its gradients so far are as small as their rounding.
    CHECK(moved > 0.5 * steps * options.rate);
    CHECK(apart <= 1e-3 * steps * options.rate);
    CHECK(std::abs(ours.best().measured.error - theirs.best().measured.error) <= 1e-4);
  }
}

TEST_CASE("cuda: learning: a stopped run is cancelled") {
  Profile profile;
  std::stop_source source;
  Run run{profile}, stopped{profile, source.get_token()};
  source.request_stop();
  const Batch batch({.queries = 3, .d = 2, .dv = 2, .leaf_sizes = {4, 4}});
  CHECK_THROWS_AS(backends().front()->leaf_loss(batch.view(), stopped), Cancelled);
}
