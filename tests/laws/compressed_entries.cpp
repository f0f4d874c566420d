// Heads whose keys are tokens and compressed entries: their visible pairs, and what every figure
// makes of them.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/block_mask.h"
#include "analysis/cost.h"
#include "analysis/metrics.h"
#include "analysis/support.h"
#include "data/error.h"
#include "laws/compressed_heads.h"
#include "laws/operator_cases.h"
#include "laws/selection_states.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<CompressedHead>& compressed_heads() {
  static const std::vector<CompressedHead> all{
      {.tokens = 8, .queries = 8, .size = 2, .window = 2, .sink = 0.5},
      {.tokens = 1, .queries = 1, .size = 1},
      {.tokens = 70, .queries = 70, .size = 4, .window = 9, .sink = -1.0},
      {.tokens = 70, .queries = 70, .size = 16},
      {.tokens = 50, .queries = 50, .size = 3, .causal = false, .window = 5},
      {.tokens = 64, .queries = 3, .size = 4, .window = 1, .sink = 2.0},
      {.tokens = 5,
       .queries = 5,
       .size = 1,
       .window = 1,
       .chosen = {-1, -1, 0, 1, 4, 2, 3, 3, -1, 2}},
      {.tokens = 40, .queries = 2, .size = 2, .window = 3, .chosen = {19, 4, -1, 0, 1, 18}}};
  return all;
}

Problem problem_of(const CompressedHead& head) {
  return head.of(make_data(Data::gaussian, head.tokens, 6, 3, false));
}

template <class Law>
void for_compressed_heads(Law law) {
  for (const CompressedHead& head : compressed_heads())
    for (const auto& backend : backends()) {
      const std::string where = std::to_string(head.tokens) + " tokens, entries of " +
                                std::to_string(head.size) + ", " + backend->device();
      CAPTURE(where);
      law(head, make_instance(*backend, problem_of(head), "exact", {}));
    }
}

}  // namespace

TEST_CASE("law: tokens and compressed entries share one softmax, with the sink") {
  for_compressed_heads([](const CompressedHead& head, const Instance& x) {
    const Index queries = x.problem.queries(), keys = x.problem.keys();
    REQUIRE(keys == head.tokens + head.entries());
    const std::vector<double> truth = weights_of(head, x.problem);
    const auto p = rows_of(truth, keys);
    CHECK(distance(x.all(), p, queries, keys) <= 2 * floor_of(x));
    const auto z = [&](Index i, Index c) {
      double sum = 0;
      for (Index j = 0; j < keys; ++j) sum += p(i, j) * double{x.problem.v(j, c)};
      return sum;
    };
    const Output out = x.apply(x.problem.v);
    // Each of the weights that are added up has such an error.
    CHECK(distance(out.z, z, queries, 3) <=
          2 * floor_of(x) * largest_entry(x.problem.v) * static_cast<double>(keys));
    for (Index i = 0; i < queries; ++i) {
      double sum = 0;
      for (Index j = 0; j < keys; ++j) sum += p(i, j);
      const double lse = double{out.lse[static_cast<std::size_t>(i)]};
      const double of_sink = head.sink ? std::exp(*head.sink - lse) : 0;
      CHECK(sum + of_sink == doctest::Approx(1).epsilon(2 * floor_of(x) + 1e-6));
    }
  });
}

TEST_CASE("law: whatever walks the pairs of a head with compressed entries walks those it admits") {
  for_compressed_heads([](const CompressedHead& head, const Instance& x) {
    const Problem& problem = x.problem;
    double pairs = 0;
    for (Index i = 0; i < problem.queries(); ++i) {
      Index of_row = 0;
      for (Index j = 0; j < problem.keys(); ++j) {
        CHECK(problem.admits(i, j) == head.sees(i, j));
        CHECK(is_admissible(*x.plan, i, j) == head.sees(i, j));
        of_row += head.sees(i, j);
      }
      CHECK(admissible_keys(*x.plan, i) == of_row);
      pairs += static_cast<double>(of_row);
    }
    CHECK(Support(*x.plan).pairs() == pairs);
    CHECK(admissible_pairs(*x.plan) == pairs);
    CHECK(count_cost(*x.plan, 6, 3).pairs == pairs);
    CHECK_FALSE(problem.mask->pairs().held());
    CHECK_FALSE(problem.causal);
    CHECK(problem.is_causal() == head.causal);
    CHECK(conditions_of(problem).causal == head.causal);
    CHECK(conditions_of(problem).window == head.window);
    check_states(x);
  });
}

TEST_CASE("law: a head that chooses no entry is a window beside its sink") {
  for (const auto& backend : backends()) {
    const CompressedHead none{.tokens = 60,
                              .queries = 60,
                              .size = 4,
                              .window = 7,
                              .sink = 0.5,
                              .chosen = std::vector<float>(60, -1)};
    const Problem with = problem_of(none);
    Problem window = make_data(Data::gaussian, 60, 6, 3, true);
    window.window = 7;
    window.rule = with.rule;
    const Instance x = make_instance(*backend, with, "exact", {}),
                   plain = make_instance(*backend, window, "exact", {});
    // The same sums in other strips of keys.
    CHECK(distance(x.apply(with.v).z, plain.apply(window.v).z, 60, 3) <=
          2 * floor_of(plain) * largest_entry(window.v) * 7);
    const Matrix p = x.all();
    CHECK(distance(p, plain.all(), 60, 60) <= 2 * floor_of(plain));
    for (Index i = 0; i < 60; ++i)
      for (Index j = 60; j < 75; ++j) CHECK(p(i, j) == 0);
  }
}

TEST_CASE("law: an entry is seen from its last token on, and what closes later changes nothing") {
  const CompressedHead head{.tokens = 40, .queries = 40, .size = 4, .window = 3, .sink = 1.0};
  Problem changed = make_data(Data::gaussian, 40, 6, 3, false);
  const Problem before = head.of(changed);
  Matrix k = Matrix::copy_of(changed.k), v = Matrix::copy_of(changed.v);
  constexpr Index from = 26;  // within entry 6, which closes with token 27
  for (Index j = from; j < 40; ++j) k(j, 0) += 3, v(j, 1) -= 5;
  changed.k = k;
  changed.v = v;
  const Problem after = head.of(changed);
  for (const auto& backend : backends()) {
    const Instance x = make_instance(*backend, before, "exact", {}),
                   y = make_instance(*backend, after, "exact", {});
    const Matrix a = x.apply(before.v).z, b = y.apply(after.v).z;
    CHECK(distance(a, b, from, 3) == 0);
    for (Index i = from; i < 40; ++i) {
      double most = 0;
      for (Index c = 0; c < 3; ++c) most = std::max(most, std::abs(double{a(i, c) - b(i, c)}));
      CHECK(most > 0.1);
    }
    const Matrix p = x.all();
    CHECK(p(26, 40 + 6) == 0);
    CHECK(p(27, 40 + 6) > 0);
    CHECK(p(27, 40 + 7) == 0);
  }
}

TEST_CASE("law: settings that leave nothing out are exact for compressed entries, others refuse") {
  const CompressedHead head{.tokens = 48, .queries = 48, .size = 4, .window = 6, .sink = 0.5};
  const Problem problem = problem_of(head);
  const std::vector<std::pair<std::string, Settings>> whole{
      {"exact", {}},
      {"dsa", {{"tokens", "60"}}},
      {"oracle", {{"block", "4"}, {"blocks", "15"}}},
      {"tf", {{"height", "0"}}},
      {"drawn", {{"pairs", "all"}}}},
      some{{"dsa", {{"tokens", "3"}}},
           {"oracle", {{"block", "4"}, {"blocks", "2"}}},
           {"tf", {{"height", "1"}}}};
  const std::vector<std::string> rounded{"int8", "int4", "fp8", "nvfp4"};
  for (const auto& backend : backends()) {
    const Instance exact = make_instance(*backend, problem, "exact", {});
    const Matrix p = exact.all();
    for (const auto& of : whole) {
      CAPTURE(of.first);
      const Instance x = make_instance(*backend, problem, of.first, of.second);
      CHECK(distance(x.all(), p, 48, 60) <= 2 * floor_of(exact));
    }
    for (const std::string& id : rounded) {
      CAPTURE(id);
      const Instance x = make_instance(*backend, problem, id, {});
      const Matrix its = x.all();
      for (Index i = 0; i < 48; ++i)
        for (Index j = 0; j < 60; ++j) CHECK((its(i, j) != 0) == head.sees(i, j));
    }
    // Selections are of the keys that a query sees.
    for (const auto& of : some) {
      CAPTURE(of.first);
      const Instance x = make_instance(*backend, problem, of.first, of.second);
      const Matrix its = x.all();
      for (Index i = 0; i < 48; ++i) {
        Index kept = 0, seen = 0;
        for (Index j = 0; j < 60; ++j) {
          if (!head.sees(i, j)) CHECK(its(i, j) == 0);
          kept += its(i, j) != 0;
          seen += head.sees(i, j);
        }
        if (of.first == "dsa") CHECK(kept == std::min<Index>(3, seen));
      }
      check_states(x);
    }
  }
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const std::string refusal = variant.refusal(problem);
    const bool takes =
        std::ranges::find(rounded, variant.id) != rounded.end() ||
        std::ranges::any_of(whole, [&](const auto& of) { return of.first == variant.id; });
    CHECK(refusal.empty() == takes);
    if (!takes)
      CHECK(refusal == variant.label +
                           " has no form for the 12 compressed entries of this head: it takes all "
                           "keys for the tokens of a sequence");
  }
}

TEST_CASE("law: the masses on tokens, compressed entries and the sink are those of P") {
  for_compressed_heads([](const CompressedHead& head, const Instance& exact) {
    const Instance some =
        make_instance(*backends().front(), exact.problem, "dsa", {{"tokens", "3"}});
    Profile profile;
    Run run{profile};
    const Output reference = exact.apply(exact.problem.v), output = some.apply(some.problem.v);
    for (const bool of_exact : {true, false}) {
      const Instance& x = of_exact ? exact : some;
      const Metrics m =
          compare(*x.bound, of_exact ? reference : output, *exact.bound, reference, run);
      REQUIRE(m.sections);
      const Matrix p = x.all();
      double tokens = 0, entries = 0, rows = 0;
      for (Index i = 0; i < p.rows(); ++i) {
        bool sees_any = false;
        for (Index j = 0; j < p.cols(); ++j) {
          sees_any |= head.sees(i, j);
          (j < head.tokens ? tokens : entries) += double{p(i, j)};
        }
        rows += sees_any;
      }
      CHECK(m.sections->tokens.value == doctest::Approx(tokens / rows).epsilon(1e-12));
      CHECK(m.sections->entries.value == doctest::Approx(entries / rows).epsilon(1e-12));
      REQUIRE(m.sections->sink.has_value() == head.sink.has_value());
      if (head.sink)
        CHECK(m.sections->sink->value ==
              doctest::Approx(1 - (tokens + entries) / rows).epsilon(1e-9));
    }
  });
  const Problem plain = make_data(Data::gaussian, 20, 6, 3, true);
  const Instance x = make_instance(*backends().front(), plain, "exact", {});
  Profile profile;
  Run run{profile};
  const Output out = x.apply(plain.v);
  CHECK_FALSE(compare(*x.bound, out, *x.bound, out, run).sections);
}

TEST_CASE("law: the pairs of a long head with compressed entries are made row by row") {
  const CompressedHead head{.tokens = 131072, .queries = 131072, .size = 4, .window = 128};
  const Problem problem = head.of(make_data(Data::gaussian, 131072, 1, 0, false));
  const PairMask& mask = *problem.mask;
  CHECK_FALSE(mask.pairs().held());
  for (const Index i :
       {Index{0}, Index{2}, Index{3}, Index{127}, Index{128}, Index{70001}, Index{131071}}) {
    CAPTURE(i);
    CHECK(mask.count(i, {0, 131072}) == std::min<Index>(i + 1, 128));
    CHECK(mask.count(i, {131072, 163840}) == (i + 1) / 4);
  }
}
