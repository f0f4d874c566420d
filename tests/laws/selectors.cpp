// What holds for selections beside what holds for all plans: ties, the future, bounds, and what is
// refused of a given selection.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "analysis/cost.h"
#include "backend/loops_named.h"
#include "data/error.h"
#include "data/random.h"
#include "laws/operator_cases.h"
#include "session/settings.h"
#include "variants/dot_products.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Selector {
  const char *id, *size, *count;  // ids of its parameters
};
constexpr Selector of_blocks[] = {{"moba", "block", "blocks"},
                                  {"msa", "block", "blocks"},
                                  {"quest", "page", "pages"},
                                  {"oracle", "block", "blocks"}};

Settings settings_of(const Selector& s, int size, int count) {
  return {{s.size, std::to_string(size)}, {s.count, std::to_string(count)}};
}

Problem with_constant_keys(Index n, bool causal) {
  Matrix q = gaussian(n, 3, 5), k(n, 3, 0.7f), v = gaussian(n, 2, 6);
  return make_problem(std::move(q), std::move(k), std::move(v), 0, causal);
}

double product(const Problem& p, Index i, Index j) {
  double sum = 0;
  for (Index c = 0; c < p.d(); ++c)
    sum += static_cast<double>(p.q(i, c)) * static_cast<double>(p.k(j, c));
  return sum;
}

std::string message_of(const char* id, const Settings& settings, const Structure& given) {
  try {
    make_plan(*backends().front(), make_data(Data::gaussian, 8, 2, 1, true), id, settings, given);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("selectors: the largest scores are those of a sort, whatever is among them") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Random random(3, 0);
  const std::vector<std::function<double(int)>> kinds{
      [&](int) { return random.normal(); },
      [&](int) { return std::round(2 * random.normal()); },
      [&](int) { return 1 + 1e-12 * random.normal(); },
      [&](int) { return std::exp(300 * random.normal()); },
      [&](int) { return 0.0; },
      [&](int j) { return 1 + 1e-12 * (j % 3); },
      [&](int j) { return j % 3 == 0 ? std::nan("") : -double(j); },
      [&](int j) { return j % 5 == 0   ? infinite
                          : j % 5 == 1 ? -infinite
                                       : random.normal(); }};
  for (const auto& kind : kinds)
    for (const int size : {1, 2, 17, 300, 5000})
      for (const int count : {0, 1, 16, 299, 4999, 6000}) {
        std::vector<double> scores;
        std::vector<std::int32_t> items;
        for (int j = 0; j < size; ++j) {
          scores.push_back(kind(j));
          if (j % 7 != 3) items.push_back(j);
        }
        std::vector<std::int32_t> expected = items;
        const auto score = [&](std::int32_t j) {
          const double s = scores[static_cast<std::size_t>(j)];
          return std::isnan(s) ? -infinite : s;
        };
        std::ranges::stable_sort(
            expected, [&](std::int32_t a, std::int32_t b) { return score(a) > score(b); });
        if (std::ssize(expected) > count) expected.resize(static_cast<std::size_t>(count));
        std::ranges::sort(expected);
        keep_largest(items, scores.data(), count);
        CHECK(items == expected);
      }
}

TEST_CASE("selectors: products are the same sums in every instruction set") {
  const Index n = 37, d = 29;
  const Matrix q = gaussian(n, d, 1), k = gaussian(n, d, 2);
  std::vector<double> products(static_cast<std::size_t>(n * (n - 3)));
  dot_products(q, {0, n}, k, {3, n}, products.data());
  for (Index i = 0; i < n; ++i)
    for (Index j = 3; j < n; ++j) {
      double sum = 0;
      for (Index c = 0; c < d; ++c)
        sum += static_cast<double>(q(i, c)) * static_cast<double>(k(j, c));
      CHECK(products[static_cast<std::size_t>(i * (n - 3) + j - 3)] == sum);
    }
  std::vector<const char*> names{"sse2"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    names.push_back("avx512");
  std::vector<double> queries, keys;
  for (Index c = 0; c < d; ++c) {
    for (Index i = 0; i < isa::wide_queries; ++i) queries.push_back(double{q(i, c)});
    for (Index j = 0; j < isa::wide_keys; ++j) keys.push_back(double{k(j, c)});
  }
  std::vector<std::vector<double>> found;
  for (const char* name : names) {
    std::vector<double*> sums;
    found.emplace_back(isa::wide_queries * isa::wide_keys);
    for (Index i = 0; i < isa::wide_queries; ++i)
      sums.push_back(found.back().data() + i * isa::wide_keys);
    loops_named(name).wide_products(queries.data(), static_cast<int>(d), keys.data(), sums.data());
    CHECK(found.back() == found.front());
  }
  for (const char* name : names) {
    CAPTURE(name);
    std::vector<double> scores = found.front();
    scores[5] = std::numeric_limits<double>::quiet_NaN();
    scores[77] = -HUGE_VAL;
    for (const Index count : {0, 1, 7, 16, 33, 128}) {
      double most = -HUGE_VAL;
      for (Index i = 0; i < count; ++i) most = scores[i] > most ? scores[i] : most;
      CHECK(loops_named(name).largest(scores.data(), count) == most);
      std::vector<std::uint32_t> order(count);
      const isa::Orders ends = loops_named(name).orders(scores.data(), count, -1, order.data());
      for (Index i = 0; i < count; ++i) {
        CHECK((order[i] >= ends.lowest && order[i] <= ends.highest));
        for (Index j = 0; j < i; ++j) {
          const auto as_ordered = [&](Index at) {
            return std::isnan(scores[at]) ? -HUGE_VALF
                                          : static_cast<float>(std::max(scores[at], -1.0));
          };
          CHECK((order[i] < order[j]) == (as_ordered(i) < as_ordered(j)));
        }
      }
    }
  }
}

TEST_CASE("selectors: scores below the least count as equal, and the first of them are taken") {
  std::vector<std::int32_t> items{0, 1, 2, 3, 4, 5};
  const std::vector<double> scores{-3, 2, -1, -7, 1, -2};
  keep_largest(items, scores.data(), 4, 0);
  CHECK(items == std::vector<std::int32_t>{0, 1, 2, 4});
  items = {1, 2, 3, 5};
  keep_largest(items, scores.data(), 2, 0);
  CHECK(items == std::vector<std::int32_t>{1, 2});
}

// Public reports: MoBA#23, #27, #38.
TEST_CASE("selectors: of equal scores the first blocks are taken, exactly k with the own one") {
  const Index n = 41, size = 4, k = 3;
  for (const Selector& s : of_blocks)
    for (const bool causal : {false, true}) {
      if (std::string(s.id) == "oracle") continue;  // it forces no block
      CAPTURE(s.id);
      CAPTURE(causal);
      const auto plan = make_plan(*backends().front(), with_constant_keys(n, causal), s.id,
                                  settings_of(s, size, k));
      const auto& selected = plan->structure.integers("selected_blocks");
      REQUIRE(std::ssize(selected) == n * k);
      for (Index i = 0; i < n; ++i) {
        const Index own = i / size;
        std::vector<std::int32_t> expected{static_cast<std::int32_t>(own)};
        for (std::int32_t b = 0; std::ssize(expected) < k && b < (causal ? own : 11); ++b)
          if (b != own) expected.push_back(b);
        std::ranges::sort(expected);
        expected.resize(k, -1);
        CHECK(std::equal(expected.begin(), expected.end(), selected.begin() + i * k));
      }
    }
}

TEST_CASE("selectors: of equal scores the first keys are taken") {
  const Index n = 23, k = 5;
  const auto plan = make_plan(*backends().front(), with_constant_keys(n, true), "dsa",
                              {{"tokens", std::to_string(k)}});
  const auto& selected = plan->structure.integers("selected_keys");
  for (Index i = 0; i < n; ++i)
    for (Index r = 0; r < k; ++r)
      CHECK(selected[static_cast<std::size_t>(i * k + r)] == (r <= i ? r : -1));
}

// Public report: transformers#45820.
TEST_CASE("selectors: under a causal mask a query selects alike whatever comes later") {
  const Index n = 60, changed = 37;
  const Problem head = make_data(Data::gaussian, n, 4, 2, true);
  Matrix q = Matrix::copy_of(head.q), k = Matrix::copy_of(head.k);
  for (Index i = changed; i < n; ++i)
    for (Index c = 0; c < 4; ++c) {
      q(i, c) = 3 - q(i, c);
      k(i, c) = 2 * k(i, c) - 1;
    }
  const Problem other =
      make_problem(std::move(q), std::move(k), Matrix::copy_of(head.v), head.scale, true);
  const auto same_rows = [&](const char* id, const Settings& settings, const char* tensor) {
    CAPTURE(id);
    const auto a = make_plan(*backends().front(), head, id, settings),
               b = make_plan(*backends().front(), other, id, settings);
    const auto &of_a = a->structure.integers(tensor), &of_b = b->structure.integers(tensor);
    const auto before = static_cast<std::ptrdiff_t>(of_a.size()) / n * changed;
    CHECK(std::equal(of_a.begin(), of_a.begin() + before, of_b.begin()));
    CHECK(of_a != of_b);
  };
  for (const Selector& s : of_blocks) same_rows(s.id, settings_of(s, 4, 3), "selected_blocks");
  same_rows("dsa", {{"tokens", "6"}}, "selected_keys");
}

TEST_CASE("selectors: the bound of a page of Quest is above every product of its keys") {
  const Index n = 70, page = 6, pages = 11;  // all but one of them
  for (const Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike}) {
    const Problem problem = make_data(data, n, 5, 2, false);
    const auto plan = make_plan(*backends().front(), problem, "quest",
                                {{"page", std::to_string(page)}, {"pages", std::to_string(pages)}});
    const auto& selected = plan->structure.integers("selected_blocks");
    const auto& bounds = plan->structure.reals("selected_scores");
    for (Index i = 0; i < n; ++i)
      for (Index r = 0; r < pages; ++r) {
        const Index first = selected[static_cast<std::size_t>(i * pages + r)] * page;
        const auto bound = static_cast<double>(bounds[static_cast<std::size_t>(i * pages + r)]);
        for (Index j = first; j < std::min(n, first + page); ++j)
          CHECK(product(problem, i, j) <= bound + 1e-6 * std::abs(bound));
      }
  }
}

TEST_CASE("selectors: no selection of as many blocks has more mass than the oracle's") {
  const Index n = 64;
  for (const bool causal : {false, true}) {
    const Problem problem = make_data(Data::gaussian, n, 6, 2, causal);
    const Matrix exact = make_instance(*backends().front(), problem, "exact", {}).all();
    const auto mass = [&](const Selector& s, Index i) {
      const Matrix p =
          make_instance(*backends().front(), problem, s.id, settings_of(s, 8, 3)).all();
      double sum = 0;
      for (Index j = 0; j < n; ++j)
        if (p(i, j) > 0) sum += static_cast<double>(exact(i, j));
      return sum;
    };
    for (const Index i : {Index{30}, Index{63}}) {
      const double best = mass(of_blocks[3], i);
      for (const Selector& s : of_blocks) CHECK(mass(s, i) <= best + 1e-6);
    }
  }
}

TEST_CASE("selectors: a query that is not finite selects something, and no other query changes") {
  const Index n = 48, bad = 20;
  const Problem head = make_data(Data::gaussian, n, 4, 2, true);
  Matrix q = Matrix::copy_of(head.q);
  q(bad, 1) = std::numeric_limits<float>::quiet_NaN();
  const Problem broken = make_problem(std::move(q), Matrix::copy_of(head.k),
                                      Matrix::copy_of(head.v), head.scale, true);
  for (const Selector& s : of_blocks) {
    CAPTURE(s.id);
    const auto a = make_plan(*backends().front(), head, s.id, settings_of(s, 4, 3)),
               b = make_plan(*backends().front(), broken, s.id, settings_of(s, 4, 3));
    const auto &of_a = a->structure.integers("selected_blocks"),
               &of_b = b->structure.integers("selected_blocks");
    for (Index i = 0; i < n; ++i)
      if (i == bad)
        CHECK(of_b[static_cast<std::size_t>(i * 3)] >= 0);
      else
        CHECK(std::equal(of_a.begin() + i * 3, of_a.begin() + i * 3 + 3, of_b.begin() + i * 3));
  }
}

TEST_CASE("selectors: what is not a number comes last among scores, in an order that sorts") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> scores{2, 1, 0, -1, nan};
  for (std::size_t a = 0; a < scores.size(); ++a)
    for (std::size_t b = 0; b < scores.size(); ++b)
      CHECK(is_larger(scores[a], scores[b]) == (a < b));
  CHECK_FALSE(is_larger(nan, nan));
}

TEST_CASE("selectors: settings worth trying leave some pair out") {
  for (const Index n : {40, 256, 341, 4096})
    for (const Variant* variant : variants_of(Group::selectors)) {
      if (!variant->is_exact) continue;
      CAPTURE(variant->id);
      CAPTURE(n);
      const auto settings = settings_worth_trying(*variant, n);
      CHECK_FALSE(settings.empty());
      for (const Values& values : settings) CHECK_FALSE(variant->is_exact(values, n));
    }
}

TEST_CASE("selectors: queries that a block of theirs leaves without a key are counted") {
  // The queries of a block all select the last block of keys, which only the last of them may
  // attend.
  Structure map;
  map.set({"block_map", {2, 4}, std::vector<std::int32_t>{0, 1, 0, 0, 0, 0, 0, 1}});
  const Settings settings{{"query_block", "4"}, {"key_block", "2"}};
  const auto note = [&](bool causal) {
    const auto plan = make_plan(*backends().front(), make_data(Data::gaussian, 8, 2, 1, causal),
                                "sparge", settings, map);
    return plan->notes.empty() ? "" : plan->notes.front();
  };
  CHECK(note(false) == "");
  CHECK(note(true) == "4 of 8 queries have no key in the blocks that their block selects: Z = 0");
}

TEST_CASE("selectors: single keys leave the head's own pairs as they are") {
  Problem problem = make_data(Data::gaussian, 50, 4, 3, true);
  const auto exact = make_plan(*backends().front(), problem, "exact", {});
  const auto plan = make_plan(*backends().front(), problem, "dsa", {{"tokens", "4"}});
  const Cost cost = count_cost(*plan, 4, 3), of_exact = count_cost(*exact, 4, 3);
  CHECK(cost.exact_multiply_adds == of_exact.multiply_adds);
  CHECK(cost.pairs == 4 * 50 - 6);
  CHECK(cost.multiply_adds == cost.pairs * 7 + of_exact.pairs * 4);
}

TEST_CASE("selectors: what cannot be selected is refused, with what is expected") {
  const auto of_query_3 = [](const char* name, Index width, std::vector<std::int32_t> values) {
    Structure given;
    std::vector<std::int32_t> all(static_cast<std::size_t>(8 * width), -1);
    std::ranges::copy(values, all.begin() + 3 * width);
    given.set({name, {8, width}, std::move(all)});
    return given;
  };
  const Settings moba{{"block", "2"}, {"blocks", "2"}}, dsa{{"tokens", "3"}},
      map{{"block", "2"}, {"stride", "1"}};
  const auto blocks = [&](std::vector<std::int32_t> values) {
    return message_of("moba", moba, of_query_3("selected_blocks", 2, std::move(values)));
  };
  const std::string expected =
      " for query 3; expected -1 or a block with a key that it may attend, not twice";
  CHECK(blocks({1, 0}) == "no error");
  CHECK(blocks({1, 1}) == "selected_blocks: 1" + expected);
  CHECK(blocks({2}) == "selected_blocks: 2" + expected);
  CHECK(blocks({4}) == "selected_blocks: 4" + expected);
  const auto keys = [&](std::vector<std::int32_t> values) {
    return message_of("dsa", dsa, of_query_3("selected_keys", 3, std::move(values)));
  };
  const std::string expected_keys =
      " for query 3; expected -1 or a key that it may attend, not twice";
  CHECK(keys({3, 0, 1}) == "no error");
  CHECK(keys({2, 2}) == "selected_keys: 2" + expected_keys);
  CHECK(keys({4}) == "selected_keys: 4" + expected_keys);
  Structure marks;
  marks.set({"block_map",
             {4, 4},
             std::vector<std::int32_t>{1, 1, 0, 0, 0, 0, 0, 0,  //
                                       0, 0, 0, 0, 0, 0, 0, 0}});
  CHECK(message_of("xattention", map, marks) ==
        "block_map: [0,1] is 1; expected 0, or 1 where a query may attend a key of the blocks");
  Structure line;
  line.set("slash", std::vector<std::int32_t>{1, 0, 0, 2, 0, 0, 0, 0});
  CHECK(message_of("vertical_slash", {}, line) == "slash: 2 of line 3; expected 0 or 1");
  CHECK(message_of("xattention", {{"block", "6"}, {"stride", "4"}}, {}) ==
        "block is 6, stride is 4; expected a multiple of stride");
}

TEST_CASE("law: nsa refuses what would leave an admitted pair without weight") {
  const Settings nsa{{"block", "2"}, {"blocks", "2"}, {"window", "1"}};
  Structure given;
  std::vector<std::int32_t> blocks;
  for (int i = 0; i < 8; ++i) blocks.insert(blocks.end(), {i / 2, -1});
  given.set({"selected_blocks", {8, 2}, blocks});
  CHECK(message_of("nsa", nsa, given) == "no error");
  blocks[2 * 4] = 0;  // query 4 begins block 2
  given.set({"selected_blocks", {8, 2}, blocks});
  CHECK(message_of("nsa", nsa, given) ==
        "selected_blocks: block 2 is missing for query 4; expected the block that the query is in");
  for (const float gate : {0.0f, -0.5f}) {
    std::vector<float> gates(24, 0.5f);
    gates[5] = gate;
    Structure of_gates;
    of_gates.set({"gates", {8, 3}, gates});
    CHECK(message_of("nsa", nsa, of_gates) == "gates: " + std::string(gate < 0 ? "-0.5" : "0") +
                                                  " for query 1; expected a number above 0");
  }
  CHECK(message_of("nsa", {{"block", "3"}}, {}) == "block is 3; expected a power of two");
}

TEST_CASE("law: nsa has the gates that are given, in every part of P and in Z") {
  constexpr Index n = 40;
  const Matrix drawn = gaussian(n, 3, 11);
  std::vector<float> gates;
  for (Index i = 0; i < n; ++i)
    for (Index b = 0; b < 3; ++b) gates.push_back(1 / (1 + std::exp(-drawn(i, b))));
  Structure given;
  given.set({"gates", {n, 3}, gates});
  for (const auto& backend : backends())
    for (const bool causal : {false, true}) {
      const Instance x = make_instance(*backend, make_data(Data::gaussian, n, 4, 3, causal), "nsa",
                                       {{"block", "4"}, {"blocks", "4"}, {"window", "5"}}, given);
      const auto truth = reference<double>(x);
      const auto z = times(truth, x.problem.v);
      const Matrix part = x.tile({13, 31}, {3, 29}), found = x.apply(x.problem.v).z;
      double most = 0;
      for (Index r = 0; r < part.rows(); ++r)
        for (Index c = 0; c < part.cols(); ++c)
          most = std::max(most, std::abs(static_cast<double>(part(r, c)) - truth(r + 13, c + 3)));
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < 3; ++c)
          most = std::max(most, std::abs(static_cast<double>(found(i, c)) -
                                         z[static_cast<std::size_t>(3 * i + c)]));
      CHECK(most < 64 * 0x1p-24);  // logits and values below 8, about ten roundings each
    }
}
