// What holds for the trees of tree attention: how keys are split, and where tokens are routed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "laws/variant_laws.h"
#include "variants/tree_tensors.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("law: median trees are balanced over distinct keys, and survive equal ones") {
  for (const Settings& shape : {Settings{{"height", "5"}}, Settings{{"branching", "4,8"}}})
    for (Index n : {1, 31, 32, 1000, 4096}) {
      CAPTURE(n);
      const Problem problem = make_data(Data::gaussian, n, 16, 1, false);
      const auto plan = make_plan(*backends().back(), problem, "tc", shape);
      std::vector<Index> size(32, 0);
      for (std::int32_t leaf : plan->structure.integers("key_leaf"))
        ++size[static_cast<std::size_t>(leaf)];
      // Each halving is even to one key, so a leaf is within the tree's height of n / 32; a
      // quantile cut likewise, and twice that leaves room for a projection that routing rounds
      // across a threshold.
      CHECK(std::ranges::max(size) <= n / 32 + 10);
      CHECK(std::ranges::min(size) >= n / 32 - 10);
      const auto flat =
          make_plan(*backends().back(), make_data(Data::equal, n, 16, 1, false), "tc", shape);
      for (std::int32_t leaf : flat->structure.integers("key_leaf"))
        CHECK(leaf == flat->structure.integers("key_leaf").front());
    }
}

TEST_CASE("law: equal keys at the median are sorted into the child that they are routed to") {
  // 100 keys below, 100 equal ones and 100 above: the equal ones go right and cannot be parted, the
  // others are halved.
  const Index n = 300;
  Matrix k(n, 1);
  for (Index i = 0; i < n; ++i)
    k(i, 0) = i < 100   ? -2 + 0.01f * static_cast<float>(i)
              : i < 200 ? 0.5f
                        : 2 + 0.01f * static_cast<float>(i - 200);
  const Problem problem = make_problem(gaussian(n, 1, 6), std::move(k), gaussian(n, 1, 7));
  for (const auto& backend : backends()) {
    const auto plan = make_plan(*backend, problem, "tc", {{"height", "2"}});
    std::vector<Index> size(4, 0);
    for (const std::int32_t leaf : plan->structure.integers("key_leaf"))
      ++size[static_cast<std::size_t>(leaf)];
    CHECK(size == std::vector<Index>{50, 50, 100, 100});
  }
}

TEST_CASE("law: keys with NaN or Inf leave a median tree balanced over the others") {
  const Index n = 4096, d = 8;
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const Settings& shape : {Settings{{"height", "3"}}, Settings{{"branching", "2,4"}}}) {
    Matrix k = gaussian(n, d, 5);
    for (Index i = 0; i < n; i += 3) k(i, i % d) = nan;
    for (Index i = 1; i < n; i += 64) k(i, 0) = i % 128 == 1 ? infinity : -infinity;
    const Problem problem = make_problem(gaussian(n, d, 6), std::move(k), gaussian(n, 1, 7));
    const auto plan = make_plan(*backends().back(), problem, "tc", shape);
    std::vector<Index> size(8, 0);
    Index numbers = 0;
    for (Index i = 0; i < n; ++i) {
      if (std::any_of(problem.k.row(i), problem.k.row(i) + d,
                      [](float x) { return std::isnan(x); }))
        continue;
      ++numbers;
      ++size[static_cast<std::size_t>(
          plan->structure.integers("key_leaf")[static_cast<std::size_t>(i)])];
    }
    // Each cut is even to one key; an infinite one may come to lie on the other side of an argmax.
    CHECK(std::ranges::max(size) <= numbers / 8 + 64);
    CHECK(std::ranges::min(size) >= numbers / 8 - 64);
    for (const TreeLevel& level : tree_of(plan->structure).levels)
      CHECK(std::ranges::none_of(level.bias, [](float b) { return std::isnan(b); }));
  }
}

TEST_CASE("law: leaves follow from the tree by the papers' rule, evaluated in float64") {
  for (const Settings& settings : {Settings{{"height", "4"}}, Settings{{"branching", "3,5"}},
                                   Settings{{"height", "4"}, {"tree", "random"}}}) {
    const Problem problem = make_data(Data::gaussian, 300, 7, 1, false);
    const auto plan = make_plan(*backends().back(), problem, "tf", settings);
    Index wrong = 0;
    for (Index i = 0; i < 300; ++i) {
      Index node = 0;
      for (const TreeLevel& level : tree_of(plan->structure).levels) {
        const auto score = [&](Index row) {
          double sum = static_cast<double>(level.bias[static_cast<std::size_t>(row)]);
          for (Index c = 0; c < 7; ++c)
            sum += static_cast<double>(level.weight(row, c)) * static_cast<double>(problem.q(i, c));
          return sum;
        };
        Index child = level.by_sign && score(node) >= 0 ? 1 : 0;
        if (!level.by_sign)
          for (Index c = 1; c < level.branching; ++c)
            if (score(node * level.branching + c) > score(node * level.branching + child))
              child = c;
        node = node * level.branching + child;
      }
      wrong += node != plan->structure.integers("query_leaf")[static_cast<std::size_t>(i)];
    }
    CHECK(wrong == 0);  // no query of this data lies within a rounding of a threshold
  }
}
