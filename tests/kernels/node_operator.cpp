// Tree attention without logits on the device, against the CPU back end.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "backend/backends.h"
#include "data/random.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Queries and keys in leaves drawn from the first and the last `used` of all, so that some queries
// have no key in their leaf, and whole branches are empty.
Plan draw_plan(Index n, bool causal, std::vector<int> branching, Index used, std::uint64_t seed) {
  Random random(seed, 5);
  const Index leaves =
      std::accumulate(branching.begin(), branching.end(), Index{1}, std::multiplies<>());
  const auto draw = [&](Index limit) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(limit)));
  };
  NodePlan nodes{std::move(branching), {}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    nodes.query_leaf.push_back(draw(leaves));
    const std::int32_t leaf = draw(std::min(used, leaves));
    nodes.key_leaf.push_back(i % 2 ? leaf : static_cast<std::int32_t>(leaves) - 1 - leaf);
  }
  for (std::size_t depth = 0; depth <= nodes.branching.size(); ++depth)
    nodes.alpha.push_back(0.25f + static_cast<float>(random.uniform()));
  Plan plan;
  plan.lengths = {n, n};
  plan.causal = causal;
  plan.form = std::move(nodes);
  return plan;
}

// One plan on both back ends.
struct Pair {
  Problem problem;
  std::unique_ptr<Backend> cpu_backend = make_cpu_backend();
  Profile profile;
  Progress progress;
  Run run{profile, {}, &progress};
  std::unique_ptr<Operator> cpu, cuda;
  double alpha_mass = 0;

  Pair(Plan drawn, Index dv)
      : problem(make_data(Data::gaussian, drawn.lengths.n(), 2, dv, drawn.causal)) {
    const auto plan = std::make_shared<const Plan>(std::move(drawn));
    for (const float alpha : std::get<NodePlan>(plan->form).alpha)
      alpha_mass += std::abs(static_cast<double>(alpha));
    cpu = cpu_backend->bind(plan, problem, run);
    cuda = backends().front()->bind(plan, problem, run);
  }

  // Largest difference in Z, relative to the tolerance: both add in double, and then the running
  // sum of each depth (on the device, with a mask) and both Z are rounded to float32.
  double difference() {
    const Matrix found = cuda->apply(problem.v, run).z, expected = cpu->apply(problem.v, run).z;
    double largest = 0, values = 0;
    for (Index i = 0; i < found.rows(); ++i)
      for (Index c = 0; c < found.cols(); ++c) {
        const double gap = static_cast<double>(found(i, c)) - static_cast<double>(expected(i, c));
        largest = larger_error(largest, gap);
        values = std::max(values, std::abs(static_cast<double>(problem.v(i, c))));
      }
    return largest / (3 * 0x1p-24 * alpha_mass * values);
  }

  Index unequal(IndexRange rows, IndexRange cols, Pool pool = {}) {
    const Matrix found = cuda->tile(rows, cols, pool, run),
                 expected = cpu->tile(rows, cols, pool, run);
    Index count = 0;
    for (Index r = 0; r < expected.rows(); ++r)
      for (Index c = 0; c < expected.cols(); ++c) count += found(r, c) != expected(r, c);
    return count;
  }

  // Relative to the tolerance of means of entries that are not negative: entries and both means are
  // rounded to float32.
  double mean_difference(IndexRange rows, IndexRange cols, Pool pool) {
    const Matrix found = cuda->tile(rows, cols, pool, run),
                 expected = cpu->tile(rows, cols, pool, run);
    double largest = 0;
    for (Index r = 0; r < expected.rows(); ++r)
      for (Index c = 0; c < expected.cols(); ++c) {
        const double mean = static_cast<double>(expected(r, c)),
                     gap = std::abs(static_cast<double>(found(r, c)) - mean);
        if (gap > 0 || std::isnan(gap)) largest = std::max(largest, gap / (3 * 0x1p-24 * mean));
      }
    return largest;
  }
};

struct TreeShape {
  std::vector<int> branching;
  Index used;  // leaves from either end that hold keys
};

const std::vector<TreeShape>& trees() {
  static const std::vector<TreeShape> list{{{}, 1},         {{2}, 1},     {{2, 2, 2, 2, 2}, 3},
                                           {{3, 1, 4}, 12}, {{600}, 300}, {{2, 300, 7}, 2000},
                                           {{1, 1}, 1}};
  return list;
}

}  // namespace

TEST_CASE("cuda: Z of tree attention is the CPU's") {
  std::uint64_t seed = 1;
  for (const TreeShape& tree : trees())
    for (const Index n : {1, 31, 257, 5000})
      for (const bool causal : {false, true}) {
        CAPTURE(n);
        CAPTURE(causal);
        CAPTURE(tree.branching);
        const Index dv = n == 5000 ? 5 : n == 257 ? 80 : 3;
        CHECK(Pair(draw_plan(n, causal, tree.branching, tree.used, ++seed), dv).difference() <= 1);
      }
}

TEST_CASE("cuda: tree attention takes values of any width, a part of the columns at a time") {
  for (const Index dv : {1, 4, 64, 256, 257, 600})
    for (const bool causal : {false, true}) {
      CAPTURE(dv);
      CAPTURE(causal);
      CHECK(Pair(draw_plan(150, causal, {2, 3}, 2, 9), dv).difference() <= 1);
    }
}

TEST_CASE("cuda: entries of tree attention and their pooled maxima are the CPU's, bit for bit") {
  std::uint64_t seed = 50;
  for (const TreeShape& tree : trees())
    for (const bool causal : {false, true}) {
      CAPTURE(tree.branching);
      CAPTURE(causal);
      for (const Index n : {1, 31, 257}) {
        CAPTURE(n);
        Pair pair(draw_plan(n, causal, tree.branching, tree.used, ++seed), 1);
        const IndexRange all{0, n}, part{n / 3, n - n / 5};
        CHECK(pair.unequal(all, all) == 0);
        CHECK(pair.unequal(part, all, {Pool::Kind::max, (part.size() + 1) / 2, (n + 2) / 3}) == 0);
        CHECK(pair.mean_difference(all, part, {Pool::Kind::mean, (n + 6) / 7, 1}) <= 1);
        CHECK(pair.mean_difference(part, part, {Pool::Kind::mean, part.size(), part.size()}) <= 1);
      }
      Pair pair(draw_plan(5000, causal, tree.branching, tree.used, ++seed), 1);
      const IndexRange rows{100, 5000}, cols{0, 4999};
      CHECK(pair.unequal(rows, cols, {Pool::Kind::max, 3, 7}) == 0);
      CHECK(pair.mean_difference(rows, cols, {Pool::Kind::mean, 11, 5}) <= 1);
    }
}

TEST_CASE("cuda: pixels of more columns than fit at a time are made in turns") {
  const Index n = 2100;  // nodes x boundaries beyond 2^22
  Pair pair(draw_plan(n, false, {40000}, 20000, 3), 1);
  CHECK(pair.unequal({7, 9}, {0, n}, {Pool::Kind::max, 2, n}) == 0);
  CHECK(pair.progress.fraction == 1);
}

TEST_CASE("cuda: alphas of 0 and below are used unchanged") {
  for (const bool causal : {false, true}) {
    Plan plan = draw_plan(100, causal, {2, 2}, 2, 4);
    std::get<NodePlan>(plan.form).alpha = {-1, 0, 0.5f};
    Pair pair(std::move(plan), 3);
    CHECK(pair.difference() <= 1);
    CHECK(pair.unequal({0, 100}, {0, 100}) == 0);
    CHECK(pair.unequal({0, 100}, {0, 100}, {Pool::Kind::max, 9, 10}) == 0);
  }
}

TEST_CASE("cuda: tree attention can be stopped, and names its stages as the CPU does") {
  Pair pair(draw_plan(60, false, {2, 2}, 2, 5), 4);
  Profile profile;
  Run run{profile};
  pair.cuda->apply(pair.problem.v, run);
  pair.cuda->tile({0, 60}, {0, 60}, run);
  std::vector<std::string> names;
  for (const StageTime& stage : profile.stages()) names.push_back(stage.name);
  CHECK(names == std::vector<std::string>{"upload", "node sums", "look-up", "download", "entries"});

  std::stop_source stop;
  stop.request_stop();
  Run stopped{profile, stop.get_token()};
  CHECK_THROWS_AS(pair.cuda->apply(pair.problem.v, stopped), Cancelled);
  CHECK_THROWS_AS(backends().front()->bind(pair.cuda->shared_plan(), pair.problem, stopped),
                  Cancelled);
}
