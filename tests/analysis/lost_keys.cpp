// What a query lost and gained, against sorting all differences and against dense matrices.
#include "analysis/lost_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "cases.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double loss(const ChangedKey& key) {
  return double(key.exact) - double(key.approximate);
}

/// All keys that lose (sign 1) or gain (sign -1), in order, by a stable sort in double.
std::vector<Index> sorted(const std::vector<float>& exact, const std::vector<float>& approximate,
                          double sign) {
  std::vector<Index> keys;
  const auto value = [&](Index j) { return sign * (double(exact[j]) - double(approximate[j])); };
  for (Index j = 0; j < std::ssize(exact); ++j)
    if (value(j) > 0) keys.push_back(j);
  std::ranges::stable_sort(keys, [&](Index a, Index b) { return value(a) > value(b); });
  return keys;
}

}  // namespace

TEST_CASE("lost and gained keys are the largest differences in order") {
  std::mt19937 random(11);
  for (const bool ties : {false, true})
    for (const Index n : {0, 1, 2, 5, 17, 100, 333})
      for (const Index most : {0, 1, 4, 64, 1000}) {
        CAPTURE(n);
        CAPTURE(most);
        std::vector<float> exact, approximate;
        for (Index j = 0; j < n; ++j) {
          const auto draw = [&] {
            return ties ? float(random() % 4) / 4 : float(random() % 10007) / 10007;
          };
          exact.push_back(draw());
          approximate.push_back(draw());
        }
        const LostKeys found = lost_keys(exact, approximate, most);
        for (const double sign : {1.0, -1.0}) {
          const auto& keys = sign > 0 ? found.lost : found.gained;
          const std::vector<Index> expected = sorted(exact, approximate, sign);
          REQUIRE(std::ssize(keys) == std::min(most, Index(expected.size())));
          for (std::size_t i = 0; i < keys.size(); ++i) {
            CHECK(keys[i].key == expected[i]);
            CHECK(keys[i].exact == exact[keys[i].key]);
            CHECK(keys[i].approximate == approximate[keys[i].key]);
            CHECK(sign * loss(keys[i]) > 0);
          }
        }
      }
}

TEST_CASE("a row that is kept has neither lost nor gained keys, and NaN is neither") {
  const std::vector<float> row{0.5f, 0.25f, 0.125f, 0.125f};
  const LostKeys same = lost_keys(row, row, 8);
  CHECK(same.lost.empty());
  CHECK(same.gained.empty());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const LostKeys some = lost_keys(row, std::vector<float>{nan, 0, nan, 1}, 8);
  REQUIRE(some.lost.size() == 1);
  REQUIRE(some.gained.size() == 1);
  CHECK(some.lost[0].key == 1);
  CHECK(some.gained[0].key == 3);
}

TEST_CASE("what a query loses is what the dense matrices say") {
  for_small_instances([](Instance x) {
    const std::string which = x.variant->id + " n=" + std::to_string(x.plan->lengths.n());
    CAPTURE(which);
    const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
    const Index n = x.plan->lengths.n(), query = n / 2;
    const Matrix p = exact.tile({query, query + 1}, {0, n}), q = x.tile({query, query + 1}, {0, n});
    const auto whole = std::size_t(n);
    const LostKeys found = lost_keys({p.row(0), whole}, {q.row(0), whole}, n);
    const auto p_dense = reference<double>(exact), q_dense = reference<double>(x);
    // Weights of at most 1 are off by some 40 roundings of 2^-24.
    constexpr double rounding = 1e-5;
    double lost = 0, gained = 0, dense_lost = 0, dense_gained = 0;
    for (const ChangedKey& key : found.lost) {
      lost += loss(key);
      CHECK(std::abs(loss(key) - (p_dense(query, key.key) - q_dense(query, key.key))) < rounding);
    }
    for (const ChangedKey& key : found.gained) gained -= loss(key);
    for (Index j = 0; j < n; ++j) {
      dense_lost += std::max(0.0, p_dense(query, j) - q_dense(query, j));
      dense_gained += std::max(0.0, q_dense(query, j) - p_dense(query, j));
    }
    CHECK(std::abs(lost - dense_lost) < double(n) * rounding);
    CHECK(std::abs(gained - dense_gained) < double(n) * rounding);
  });
}
