// The heavy steps of planning, against the CPU back end.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "backend/backends.h"
#include "data/random.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index lengths[] = {1, 31, 257, 5000};
constexpr Index depths[] = {1, 3, 64, 80, 257};

struct Steps {
  Profile profile;
  Run run{profile};
  std::unique_ptr<Backend> cpu = make_cpu_backend();
  const Backend& cuda = *backends().front();
};

// Whether sums in float32 of different order may have x . w of different sign: within d rounding
// errors of the sum of the products' magnitudes, on both back ends.
bool near_zero(const float* x, const float* w, Index d) {
  double dot = 0, mass = 0;
  for (Index c = 0; c < d; ++c) {
    const double product = static_cast<double>(x[c]) * static_cast<double>(w[c]);
    dot += product;
    mass += std::abs(product);
  }
  return std::abs(dot) <= static_cast<double>(d) * 0x1p-24 * mass;
}

std::uint32_t gray(std::int32_t position) {
  const auto p = static_cast<std::uint32_t>(position);
  return p ^ (p >> 1);
}

void compare_buckets(MatrixView x, MatrixView directions) {
  Steps steps;
  const auto expected = steps.cpu->lsh_buckets(x, directions, steps.run),
             found = steps.cuda.lsh_buckets(x, directions, steps.run);
  REQUIRE(found.size() == expected.size());
  Index wrong = 0;
  for (Index i = 0; i < x.rows; ++i) {
    const std::uint32_t differing = gray(found[i]) ^ gray(expected[i]);
    for (Index t = 0; t < 32; ++t)
      if (differing >> t & 1)
        wrong += t >= directions.rows || !near_zero(x.row(i), directions.row(t), x.cols);
  }
  CHECK(wrong == 0);
}

Tree random_tree(const std::vector<int>& branching, bool by_sign, Index d, std::uint64_t seed) {
  Tree tree;
  Index nodes = 1;
  for (const int b : branching) {
    const Index rows = nodes * (by_sign ? 1 : b);
    TreeLevel level{b, by_sign, gaussian(rows, d, seed++), {}};
    const Matrix bias = gaussian(rows, 1, seed++);
    level.bias.assign(bias.data(), bias.data() + rows);
    tree.levels.push_back(std::move(level));
    nodes *= b;
  }
  return tree;
}

void compare_leaves(MatrixView x, const Tree& tree) {
  Steps steps;
  CHECK(steps.cuda.route(x, tree, steps.run) == steps.cpu->route(x, tree, steps.run));
}

}  // namespace

TEST_CASE(
    "cuda: LSH buckets are the CPU's, but for bits whose projection is within rounding of 0") {
  std::uint64_t seed = 11;
  for (const Index n : lengths)
    for (const Index d : depths)
      for (const Index r : {1, 7, 8, 9, 16, 17, 30}) {
        if (n == 5000 && d * r > 600) continue;
        CAPTURE(n);
        CAPTURE(d);
        CAPTURE(r);
        compare_buckets(gaussian(n, d, seed), gaussian(r, d, seed + 1));
        seed += 2;
      }
  for (Index r = 1; r <= 30; ++r) compare_buckets(gaussian(257, 5, seed), gaussian(r, 5, seed + r));
}

TEST_CASE("cuda: a projection of 0 is a bit of 0, and rows may lie apart") {
  Matrix x = Matrix::padded(40, 3), directions = Matrix::padded(5, 3);
  directions(1, 0) = 1;
  x(7, 0) = 2;
  Steps steps;
  const auto bucket = steps.cuda.lsh_buckets(x, directions, steps.run);
  for (std::size_t i = 0; i < 40; ++i) CHECK(bucket[i] == (i == 7 ? 3 : 0));  // Gray: 2 is at 3
}

TEST_CASE("cuda: leaves are the CPU's, bit for bit") {
  std::uint64_t seed = 100;
  for (const Index n : lengths)
    for (const Index d : depths) {
      if (n == 5000 && d > 64) continue;
      CAPTURE(n);
      CAPTURE(d);
      const Matrix x = gaussian(n, d, seed);
      compare_leaves(x, random_tree({2, 2, 2, 2, 2}, true, d, seed + 1));
      compare_leaves(x, random_tree({3, 5}, false, d, seed + 2));
      compare_leaves(x, random_tree({2, 1, 7}, false, d, seed + 3));
      compare_leaves(x, Tree{});
      seed += 4;
    }
}

TEST_CASE("cuda: routing goes right at 0 and to the lowest child of a tie") {
  Tree sign = random_tree({2}, true, 3, 1), ties = random_tree({4}, false, 3, 1);
  for (Tree* tree : {&sign, &ties}) {
    TreeLevel& level = tree->levels.front();
    level.weight = Matrix(level.weight.rows(), 3);
    std::ranges::fill(level.bias, 0.0f);
  }
  ties.levels.front().bias = {-1, 2, 2, 0};
  Steps steps;
  const Matrix x = gaussian(33, 3, 5);
  for (const std::int32_t leaf : steps.cuda.route(x, sign, steps.run)) CHECK(leaf == 1);
  for (const std::int32_t leaf : steps.cuda.route(x, ties, steps.run)) CHECK(leaf == 1);
}

TEST_CASE("cuda: the stable order is the CPU's, whatever the number of keys") {
  Random random(3, 4);
  Steps steps;
  for (const Index n : {0, 1, 31, 257, 5000})
    for (const std::int32_t key_count : {1, 2, 3, 128, 129, 70000, (1 << 30) + 1, 0x7fffffff}) {
      CAPTURE(n);
      CAPTURE(key_count);
      std::vector<std::int32_t> keys(static_cast<std::size_t>(n));
      for (auto& key : keys)
        key = std::min(key_count - 1, static_cast<std::int32_t>(random.uniform() * key_count));
      if (n > 2) keys[1] = keys[2] = key_count - 1;
      CHECK(steps.cuda.stable_order(keys, key_count, steps.run) ==
            steps.cpu->stable_order(keys, key_count, steps.run));
    }
}

TEST_CASE("cuda: planning can be stopped") {
  Profile profile;
  std::stop_source stop;
  Run run{profile, stop.get_token()};
  stop.request_stop();
  const Backend& cuda = *backends().front();
  const Matrix x = gaussian(10, 3, 1);
  CHECK_THROWS_AS(cuda.lsh_buckets(x, x, run), Cancelled);
  CHECK_THROWS_AS(cuda.route(x, random_tree({2}, true, 3, 1), run), Cancelled);
  CHECK_THROWS_AS(cuda.stable_order(std::vector<std::int32_t>{1, 0}, 2, run), Cancelled);
}

TEST_CASE("parallel planning runs on as many threads as were asked for") {
  Profile profile;
  Run run{profile};
  std::string why_not;
  // Whether each of two bodies sees the other begin before its own end.
  const auto meet = [&](int threads) {
    const auto backend = make_cuda_backend({.threads = threads}, &why_not);
    REQUIRE(backend);
    std::atomic<int> begun = 0, met = 0;
    backend->share_out(2, run, [&](Index) {
      ++begun;
      const auto until =
          std::chrono::steady_clock::now() + std::chrono::seconds(threads > 1 ? 30 : 1);
      while (begun < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      met += begun == 2;
    });
    return met == 2;
  };
  CHECK(meet(2));
  CHECK(!meet(1));
}
