// What holds for the plans of every variant: structures, seeds, degenerate settings, given
// structures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "cases.h"
#include "data/error.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

bool is_permutation_of_tokens(const std::int32_t* order, Index n) {
  std::vector<std::int32_t> sorted(order, order + n);
  std::ranges::sort(sorted);
  for (Index i = 0; i < n; ++i)
    if (sorted[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

bool same_structure(const Structure& a, const Structure& b) {
  if (a.tree.height() != b.tree.height()) return false;
  for (std::size_t l = 0; l < a.tree.levels.size(); ++l) {
    const Matrix &u = a.tree.levels[l].weight, &w = b.tree.levels[l].weight;
    if (u.rows() != w.rows() || a.tree.levels[l].bias != b.tree.levels[l].bias) return false;
    if (!std::equal(u.data(), u.data() + u.rows() * u.stride(), w.data())) return false;
  }
  return a.query_order == b.query_order && a.key_order == b.key_order &&
         a.sampled_keys == b.sampled_keys && a.query_leaf == b.query_leaf &&
         a.key_leaf == b.key_leaf && a.query_bucket == b.query_bucket &&
         a.key_bucket == b.key_bucket && a.alpha == b.alpha;
}

// Pairs of positions that a tile plan covers, at level 0 of the tokens.
std::vector<bool> covered_pairs(const Plan& plan) {
  std::vector<bool> covered(static_cast<std::size_t>(plan.n * plan.n));
  const auto at = [](const std::vector<std::int32_t>& order, Index p) {
    return order.empty() ? p : Index{order[static_cast<std::size_t>(p)]};
  };
  for (const Pass& pass : std::get<TilePlan>(plan.form).passes)
    for (const Tile& tile : pass.tiles)
      for (Index r = tile.rows.begin; r < tile.rows.end; ++r)
        for (Index c = tile.cols.begin; c < tile.cols.end; ++c) {
          const IndexRange rows = cluster_tokens(at(pass.rows, r), pass.query_level, plan.n);
          const IndexRange cols = cluster_tokens(at(pass.cols, c), pass.key_level, plan.n);
          for (Index i = rows.begin; i < rows.end; ++i)
            for (Index j = cols.begin; j < cols.end; ++j)
              if (tile.band.contains(i, j))
                covered[static_cast<std::size_t>(i * plan.n + j)] = true;
        }
  return covered;
}

template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return std::to_string(error.status()) + ": " + error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("law: tiles are disjoint, orders are permutations, and future keys are in no tile") {
  int turn = 0;
  for (const Case& c : cases())
    for (Index n : {1, 2, 3, 15, 16, 17, 63, 64, 65, 97, 127, 200, 257})
      for (bool causal : {false, true}) {
        CAPTURE(describe(c));
        CAPTURE(n);
        CAPTURE(causal);
        const Problem problem = make_data(static_cast<Data>(turn++ % 4), n, 5, 2, causal, c.head);
        const auto plan = make_plan(*backends().back(), problem, c.id, c.settings);
        CHECK(plan->n == n);
        CHECK(plan->causal == causal);
        CHECK_NOTHROW(check_disjoint(*plan));
        for (const auto* order : {&plan->structure.query_order, &plan->structure.key_order}) {
          REQUIRE(static_cast<Index>(order->size()) % n == 0);
          for (std::size_t at = 0; at < order->size(); at += static_cast<std::size_t>(n))
            CHECK(is_permutation_of_tokens(order->data() + at, n));
        }
        if (!causal || !std::holds_alternative<TilePlan>(plan->form)) continue;
        const auto covered = covered_pairs(*plan);
        bool future = false;
        for (Index i = 0; i < n; ++i)
          for (Index j = i + 1; j < n; ++j)
            future = future || covered[static_cast<std::size_t>(i * n + j)];
        CHECK(!future);
      }
}

TEST_CASE("law: the levels of h1d tile the matrix exactly once, whatever n") {
  for (const std::string structure : {"banded", "nested"})
    for (const std::string query : {"first", "fine", "mean"})
      for (Index block : {2, 6, 16})
        for (Index n = 1; n <= 130; n += n < 40 ? 1 : 9)
          for (bool causal : {false, true}) {
            CAPTURE(structure);
            CAPTURE(n);
            CAPTURE(block);
            CAPTURE(causal);
            const auto plan =
                make_plan(*backends().front(), make_data(Data::gaussian, n, 2, 1, causal), "h1d",
                          {{"block", std::to_string(block)},
                           {"structure", structure},
                           {"causal_query", query}});
            check_disjoint(*plan);
            const auto covered = covered_pairs(*plan);
            CHECK(std::ranges::count(covered, true) == (causal ? n * (n + 1) / 2 : n * n));
          }
}

TEST_CASE("law: one seed gives one structure, on every back end, another seed another") {
  for (const Case& c : cases()) {
    CAPTURE(describe(c));
    const Problem problem = make_data(Data::gaussian, 200, 8, 2, true, c.head);
    const auto first = make_plan(*backends().front(), problem, c.id, c.settings, {}, 11);
    for (const auto& backend : backends())
      CHECK(same_structure(first->structure,
                           make_plan(*backend, problem, c.id, c.settings, {}, 11)->structure));
    const bool random = !first->structure.sampled_keys.empty() ||
                        std::ranges::find(c.settings, std::pair<std::string, std::string>(
                                                          "tree", "random")) != c.settings.end();
    CHECK(same_structure(
              first->structure,
              make_plan(*backends().front(), problem, c.id, c.settings, {}, 12)->structure) ==
          !random);
  }
}

TEST_CASE("law: degenerate settings equal exact attention") {
  struct Degenerate {
    std::string id;
    Settings settings;
    Structure given = {};
  };
  std::vector<Degenerate> list{{"h1d", {{"block", "64"}}},
                               {"h1d", {{"block", "64"}, {"structure", "nested"}}},
                               {"h1d", {{"block", "32"}}},  // two blocks: no level above 0
                               {"fixed", {{"stride", "63"}}},
                               {"strided", {{"stride", "63"}}},
                               {"tf", {{"height", "0"}}},
                               {"tf", {}},
                               {"hyper", {{"block", "63"}, {"min_length", "1"}}},
                               {"hyper", {}}};
  TreeLevel level;  // w = 0, b > 0: Lemma 1
  level.weight = Matrix(1, 5);
  level.bias = {1.0f};
  list[6].given.tree.levels.push_back(std::move(level));
  for (const auto& backend : backends())
    for (const Degenerate& c : list)
      for (bool causal : {false, true})
        for (Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike}) {
          CAPTURE(c.id);
          CAPTURE(causal);
          const Problem problem = make_data(data, 63, 5, 4, causal);
          const Instance exact = make_instance(*backend, problem, "exact", {});
          const Instance x = make_instance(*backend, problem, c.id, c.settings, c.given);
          const Matrix p = x.all(), expected = exact.all();
          double worst = 0;
          for (Index i = 0; i < 63; ++i)
            for (Index j = 0; j < 63; ++j)
              worst = std::max(worst, std::abs(static_cast<double>(p(i, j)) -
                                               static_cast<double>(expected(i, j))));
          // The same logits, bit for bit; the row sum may be added up in another order: 63
          // roundings.
          CHECK(worst <= 63 * 0x1p-24);
        }
}

TEST_CASE("law: a structure given back is used, and gives the same result bit for bit") {
  for (const Case& c : cases())
    for (bool causal : {false, true}) {
      CAPTURE(describe(c));
      const Problem problem = make_data(Data::gaussian, 97, 6, 3, causal, c.head);
      const Instance x = make_instance(*backends().back(), problem, c.id, c.settings, {}, 1);
      const Instance y =
          make_instance(*backends().back(), problem, c.id, c.settings, x.plan->structure, 2);
      CHECK(same_structure(x.plan->structure, y.plan->structure));
      const Matrix a = x.apply(problem.v).z, b = y.apply(problem.v).z;
      CHECK(std::equal(a.data(), a.data() + 97 * a.stride(), b.data()));
    }
}

TEST_CASE(
    "law: a given structure of the wrong shape or content is refused, with found and expected") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, false),
                causal = make_data(Data::gaussian, 8, 2, 1, true);
  const auto refusal = [&](const char* id, const Problem& head, auto fill) {
    Structure given;
    fill(given);
    Settings settings;
    if (std::string(id) == "hyper")
      settings = {{"block", "2"}, {"min_length", "2"}, {"samples", "3"}};
    return message_of([&] { make_plan(*backends().front(), head, id, settings, given); });
  };
  CHECK(refusal("hyper", problem, [](Structure& s) {
          s.query_order = {0, 1, 2};
        }) == "3: query_order: 3 values: 8 expected");
  CHECK(refusal("hyper", problem, [](Structure& s) { s.key_order = {0, 1, 2, 3, 4, 5, 6, 8}; }) ==
        "3: key_order: [7] is 8: in [0, 8) expected");
  CHECK(refusal("hyper", problem, [](Structure& s) { s.key_order = {0, 1, 2, 3, 4, 5, 6, 6}; }) ==
        "3: key_order: [7] is 6 for the second time: a permutation expected");
  CHECK(refusal("hyper", problem, [](Structure& s) {
          s.sampled_keys = {0, 8, 1};
        }) == "3: sampled_keys: 8 for sub-problem 0: in [0, 8) expected");
  CHECK(refusal("hyper", causal, [](Structure& s) {
          s.sampled_keys = {0, 1, 2, 3};
        }) == "3: sampled_keys: 4 keys: as many for each of 3 sub-problems expected");
  CHECK(refusal("hyper", causal, [](Structure& s) {
          s.query_order = {7, 1, 2, 3, 4, 5, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7};
        }) == "3: query_order: [7] is 0: a token of the segment [4, 8) expected");
  CHECK(refusal("tf", problem, [](Structure& s) { s.query_leaf = {0}; }) ==
        "3: query_leaf: [1] found: [8] expected");
  CHECK(refusal("tf", problem, [](Structure& s) { s.key_leaf = {0, 0, 0, 0, 64, 0, 0, 0}; }) ==
        "3: key_leaf: [4] is 64: in [0, 64) expected");
  CHECK(refusal("tc", problem, [](Structure& s) {
          s.alpha = {1, 2};
        }) == "3: alpha: 2 values: h + 1 = 7 expected");
  CHECK(refusal("tf", problem, [](Structure& s) {
          s.tree.levels.push_back({2, true, Matrix(1, 3), {0}});
        }) == "3: tree_weight: [1,3] at a level: [1,2] expected");
}

TEST_CASE("law: parameters that contradict each other are refused") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, true);
  const auto refusal = [&](const char* id, const Settings& settings) {
    return message_of([&] { make_plan(*backends().front(), problem, id, settings); });
  };
  CHECK(refusal("fixed", {{"stride", "4"}}) ==
        "2: summary is 8, stride is 4: summary <= stride expected");
  CHECK(refusal("fixed", {{"stride", "16"}, {"subblocks", "3"}}) ==
        "2: summary is 8, subblocks is 3, stride is 16: summary x subblocks <= stride expected");
  CHECK(refusal("tc", {{"height", "2"}, {"alpha", "1,2"}}) ==
        "2: alpha has 2 values: h + 1 = 3 expected");
  CHECK(refusal("tf", {{"branching", "2048,1024"}}) ==
        "2: branching is '2048,1024': at most 2^20 leaves expected");
  CHECK(refusal("tf", {{"branching", "2.5"}}) == "2: branching has 2.5: integers expected");
  CHECK(refusal("h1d", {{"block", "3"}}).starts_with("2: block is '3': an even integer"));
}

TEST_CASE("law: median trees are balanced over distinct keys, and survive equal ones") {
  for (const Settings& shape : {Settings{{"height", "5"}}, Settings{{"branching", "4,8"}}})
    for (Index n : {1, 31, 32, 1000, 4096}) {
      CAPTURE(n);
      const Problem problem = make_data(Data::gaussian, n, 16, 1, false);
      const auto plan = make_plan(*backends().back(), problem, "tc", shape);
      std::vector<Index> size(32, 0);
      for (std::int32_t leaf : plan->structure.key_leaf) ++size[static_cast<std::size_t>(leaf)];
      // Each halving is even to one key, so a leaf is within the tree's height of n / 32; a
      // quantile cut likewise, and twice that leaves room for a projection that routing rounds
      // across a threshold.
      CHECK(std::ranges::max(size) <= n / 32 + 10);
      CHECK(std::ranges::min(size) >= n / 32 - 10);
      const auto flat =
          make_plan(*backends().back(), make_data(Data::equal, n, 16, 1, false), "tc", shape);
      for (std::int32_t leaf : flat->structure.key_leaf)
        CHECK(leaf == flat->structure.key_leaf.front());
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
      ++size[static_cast<std::size_t>(plan->structure.key_leaf[static_cast<std::size_t>(i)])];
    }
    // Each cut is even to one key; an infinite one may come to lie on the other side of an argmax.
    CHECK(std::ranges::max(size) <= numbers / 8 + 64);
    CHECK(std::ranges::min(size) >= numbers / 8 - 64);
    for (const TreeLevel& level : plan->structure.tree.levels)
      CHECK(std::ranges::none_of(level.bias, [](float b) { return std::isnan(b); }));
  }
}

TEST_CASE("law: leaves follow from the tree by the papers' rule, in float64") {
  for (const Settings& settings : {Settings{{"height", "4"}}, Settings{{"branching", "3,5"}},
                                   Settings{{"height", "4"}, {"tree", "random"}}}) {
    const Problem problem = make_data(Data::gaussian, 300, 7, 1, false);
    const auto plan = make_plan(*backends().back(), problem, "tf", settings);
    Index wrong = 0;
    for (Index i = 0; i < 300; ++i) {
      Index node = 0;
      for (const TreeLevel& level : plan->structure.tree.levels) {
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
      wrong += node != plan->structure.query_leaf[static_cast<std::size_t>(i)];
    }
    CHECK(wrong == 0);  // no query of this data lies within a rounding of a threshold
  }
}

TEST_CASE("law: what the user must know is noted") {
  const auto notes = [](const char* id, const Settings& settings, bool causal) {
    const auto plan =
        make_plan(*backends().front(), make_data(Data::gaussian, 64, 4, 1, causal), id, settings);
    return plan->notes.empty() ? std::string() : plan->notes.front();
  };
  CHECK(notes("hyper", {}, false) == "n < min_length: computed exactly");
  CHECK(notes("hyper", {}, true) == "n <= min_length: computed exactly");
  CHECK(notes("hyper", {{"block", "64"}, {"min_length", "2"}}, false) ==
        "block >= n: computed exactly");
  CHECK(notes("hyper", {{"block", "8"}, {"min_length", "2"}}, true) == "");
  CHECK(notes("h1d", {{"causal_query", "mean"}}, true).find("leaks the future") !=
        std::string::npos);
  CHECK(notes("h1d", {{"causal_query", "mean"}}, false) == "");
  CHECK(notes("fixed", {{"stride", "16"}, {"summary", "2"}, {"heads", "second"}}, true) ==
        "14 of 64 queries have no summary column to attend: Z = 0");
}
