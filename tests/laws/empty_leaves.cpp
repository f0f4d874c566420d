// What a query of TF-attention gets whose leaf holds no key that it may attend, whatever the
// reason.
#include <doctest/doctest.h>

#include <algorithm>

#include "laws/conditions.h"
#include "variants/tree_tensors.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Two leaves, by the sign of the only number.
Structure by_sign() {
  Tree tree;
  tree.levels.push_back({2, true, Matrix(1, 1, 1.0f), {0.0f}});
  Structure given;
  set_tree(given, tree);
  return given;
}

Matrix column(std::initializer_list<float> numbers) {
  Matrix m(std::ssize(numbers), 1);
  std::ranges::copy(numbers, m.data());
  return m;
}

/// Four queries of the right leaf, which holds key 2 alone.
Problem four_tokens(bool causal) {
  return make_problem(column({1, 1, 1, 1}), column({-1, -1, 1, -1}), column({1, 2, 4, 8}), 0,
                      causal);
}

BitMatrix all_pairs_but(std::initializer_list<std::pair<Index, Index>> some) {
  BitMatrix pairs(4, 4);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 4; ++j) pairs.set(i, j);
  for (const auto& [i, j] : some) pairs.clear(i, j);
  return pairs;
}

std::string note_of(Index without) {
  return std::to_string(without) + " of 4 queries have no key in their leaf: Z = 0";
}

bool has(const std::vector<std::string>& notes, const std::string& note) {
  return std::ranges::find(notes, note) != notes.end();
}

/// Key 2 where the query may attend it; else all keys that it may attend, if it climbs.
void check(const Problem& problem) {
  for (const bool climbs : {false, true})
    for (const auto& backend : backends()) {
      CAPTURE(climbs);
      const Instance x =
          make_instance(*backend, problem, "tf",
                        {{"height", "1"}, {"empty", climbs ? "ancestor" : "zero"}}, by_sign());
      const Matrix p = x.all();
      Index without = 0;
      for (Index i = 0; i < 4; ++i) {
        const bool has = problem.admits(i, 2);
        bool any = false;
        for (Index j = 0; j < 4; ++j) {
          const bool expected = problem.admits(i, j) && (j == 2 || (!has && climbs));
          CHECK((p(i, j) > 0) == expected);
          any |= expected;
        }
        without += !any;
      }
      // The first note says that the tree was given.
      CHECK(x.plan->notes.size() == (without > 0 ? 2 : 1));
      if (without > 0) CHECK(has(x.plan->notes, note_of(without)));
    }
}

}  // namespace

TEST_CASE("a query climbs from a leaf whose keys its mask of pairs excludes") {
  // The pair (0, 0) is excluded: query 0 finds key 1 in the ancestor.
  BitMatrix pairs(2, 2);
  pairs.set(0, 1);
  pairs.set(1, 0);
  pairs.set(1, 1);
  Problem problem = make_problem(column({1, -1}), column({1, -1}), column({3, 5}));
  set_mask(problem, {}, {}, std::move(pairs));
  for (const auto& backend : backends()) {
    const Instance climbs =
        make_instance(*backend, problem, "tf", {{"height", "1"}, {"empty", "ancestor"}}, by_sign());
    CHECK(climbs.tile({0, 1}, {0, 2})(0, 0) == 0);
    CHECK(climbs.tile({0, 1}, {0, 2})(0, 1) == 1);
    CHECK(climbs.apply(problem.v).z(0, 0) == 5);
    CHECK(climbs.plan->notes.size() == 1);  // that the tree was given
    const Instance stays =
        make_instance(*backend, problem, "tf", {{"height", "1"}, {"empty", "zero"}}, by_sign());
    CHECK(stays.apply(problem.v).z(0, 0) == 0);
    CHECK(has(stays.plan->notes, "1 of 2 queries have no key in their leaf: Z = 0"));
  }
}

TEST_CASE("a query climbs whichever condition leaves its leaf without a key") {
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    check(four_tokens(causal));
    for (const Index window : {1, 2, 3}) {
      Problem problem = four_tokens(causal);
      problem.window = window;
      check(problem);
    }
    const auto with_mask = [&](std::vector<std::int32_t> queries, std::vector<std::int32_t> keys,
                               BitMatrix pairs) {
      Problem problem = four_tokens(causal);
      set_mask(problem, std::move(queries), std::move(keys), std::move(pairs));
      check(problem);
    };
    constexpr std::int32_t padding = PairMask::padding;
    with_mask({0, 0, 1, 1}, {0, 0, 1, 1}, {});
    with_mask({0, 1, 0, 1}, {0, 1, 0, 1}, {});
    with_mask({0, 0, 0, 0}, {0, 0, padding, 0}, {});
    with_mask({0, 0, 0, padding}, {0, padding, 0, 0}, {});
    with_mask({}, {}, all_pairs_but({{0, 2}, {3, 2}, {3, 0}}));
    // Query 1 has no key at all.
    with_mask({}, {}, all_pairs_but({{1, 0}, {1, 1}, {1, 2}, {1, 3}}));
    with_mask({0, 0, 1, 1}, {0, 0, 1, 1}, all_pairs_but({{2, 2}, {1, 0}}));
  }
}

TEST_CASE("queries that share no chunk with a key that they may attend are counted under a mask") {
  const Index n = 6;
  Structure given;
  for (const char* side : {"query_bucket", "key_bucket"})
    given.set({side, {1, n}, std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}});
  Problem problem = make_data(Data::gaussian, n, 3, 2, false);
  // Token 4 and 5 attend the chunks of keys 2 to 5; their documents are in the first one.
  set_mask(problem, {0, 0, 1, 1, 0, 0}, {0, 0, 1, 1, 1, 1});
  const Instance x = make_instance(*backends().front(), problem, "reformer",
                                   {{"rounds", "1"}, {"chunk", "2"}}, given);
  REQUIRE(x.plan->notes.size() == 1);
  CHECK(x.plan->notes.front() ==
        "2 of 6 queries share no chunk with a key that they may attend: Z = 0");
  CHECK(x.apply(problem.v).z(4, 0) == 0);
}

TEST_CASE("a query whose biases are all very negative attends all keys alike") {
  for (const float bias : {-65504.0f, -1e5f, -1e9f}) {
    CAPTURE(bias);
    Problem problem = make_data(Data::equal, 9, 4, 3, false);
    change_rule(problem, [&](LogitRule& rule) {
      rule.bias = Matrix(9, 9);
      for (Index j = 0; j < 9; ++j) rule.bias(j, 5) = bias;
    });
    for (const auto& backend : backends()) {
      const Instance exact = make_instance(*backend, problem, "exact", {});
      double mean = 0;
      for (Index j = 0; j < 9; ++j) mean += double(problem.v(j, 0)) / 9;
      CHECK(exact.apply(problem.v).z(5, 0) == doctest::Approx(mean).epsilon(1e-6));
      // An entry is divided by the row sum, whose log2 is rounded: by up to 2^-8 at 1.4e5.
      const Matrix row = exact.tile({5, 6}, {0, 9});
      for (Index j = 0; j < 9 && bias >= -1e5f; ++j)
        CHECK(row(0, j) == doctest::Approx(1.0 / 9).epsilon(0.004));
    }
  }
}
