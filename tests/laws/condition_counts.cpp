// What is counted of a plan under the conditions of its head, against P; and who takes which.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "analysis/block_mask.h"
#include "analysis/cost.h"
#include "analysis/metrics.h"
#include "analysis/support.h"
#include "data/error.h"
#include "laws/conditions.h"
#include "laws/formulas.h"
#include "laws/selection_states.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("law: masks, row sizes and costs under every condition are those of P") {
  for_all_conditions([](const Instance& x) {
    const Index n = x.plan->lengths.n();
    const Matrix p = x.all(), fill = block_fill(*x.plan, {0, n}, {0, n}, 5, {});
    const Support support(*x.plan);
    double pairs = 0, admissible = 0;
    Matrix blocks(fill.rows(), fill.cols());
    for (Index i = 0; i < n; ++i) {
      Index size = 0, allowed = 0;
      bool same = true;
      for (Index j = 0; j < n; ++j) {
        size += p(i, j) != 0;
        allowed += sees(x.problem, i, j);
        blocks(i / 5, j / 5) += p(i, j) != 0;
        same &= pair_info(support, i, j).covered == (p(i, j) != 0);
      }
      CHECK(same);
      CHECK(support.count(i) == size);
      CHECK(admissible_keys(*x.plan, i) == allowed);
      pairs += static_cast<double>(size);
      admissible += static_cast<double>(allowed);
    }
    for (Index r = 0; r < fill.rows(); ++r)
      for (Index c = 0; c < fill.cols(); ++c) {
        const auto area =
            static_cast<float>(std::min<Index>(5, n - 5 * r) * std::min<Index>(5, n - 5 * c));
        CHECK(fill(r, c) == blocks(r, c) / area);
      }
    CHECK(support.complete() == (pairs >= admissible));
    const Cost cost = count_cost(*x.plan, x.problem.d(), x.problem.dv());
    const auto width = static_cast<double>(x.problem.d() + x.problem.dv());
    CHECK(cost.exact_multiply_adds == admissible * width);
    if (x.variant->conditions == Conditions::all) CHECK(cost.pairs == pairs);
  });
}

TEST_CASE("law: picked, available and masked pairs are those of P and of the head's conditions") {
  for_all_conditions(check_states);
  for (const Case& c : cases())
    for (const bool causal : masks_of(c)) {
      const Problem problem = make_data(Data::gaussian, 37, 4, 2, causal, c.head);
      // Entries of TC-attention can cancel.
      if (c.id == "tc" || !takes(c, problem)) continue;
      CAPTURE(describe(c));
      CAPTURE(causal);
      check_states(make_instance(*backends().front(), problem, c.id, c.settings));
    }
}

TEST_CASE("law: metrics under every condition are those of the formulas, rows without keys too") {
  for_all_conditions([](const Instance& x) {
    if (x.problem.n() > 64) return;  // the formulas take most of the time
    const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
    Profile profile;
    Run run{profile};
    const Metrics m =
        compare(*x.bound, x.apply(x.problem.v), *exact.bound, exact.apply(x.problem.v), run);
    const auto p = reference<double>(exact), q = reference<double>(x);
    const Index n = x.problem.n();
    const bool has_sink = x.problem.rule && x.problem.rule->sink;
    double kept = 0, variation = 0;
    Index without = 0;
    for (Index i = 0; i < n; ++i) {
      double all = 0, some = 0, of_row = 0, approximate = 0;
      Index keys = 0;
      for (Index j = 0; j < n; ++j) {
        keys += sees(x.problem, i, j);
        all += p(i, j);
        approximate += q(i, j);
        some += q(i, j) != 0 ? p(i, j) : 0;
        of_row += std::abs(q(i, j) - p(i, j)) / 2;
      }
      if (has_sink) of_row += std::abs(approximate - all) / 2;
      without += keys == 0;
      kept += keys == 0 ? 1 : some / all;
      variation += of_row;
    }
    const double count = static_cast<double>(n), rounding = 1e-5 + 4 * floor_of(x);
    CHECK(std::abs(m.mass_kept.value - kept / count) <= rounding);
    CHECK(std::abs(m.attention_tv.value - variation / count) <= rounding);
    CHECK(m.mass_kept.value <= 1);
    for (const Estimate& recall : m.top_recall) {
      CHECK(recall.value <= 1);
      CHECK(recall.value * count >= static_cast<double>(without) * (1 - 1e-12));
    }
  });
}

TEST_CASE("a variant without a form for a condition says which and why") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    CHECK((variant.conditions == Conditions::all) == variant.why_not_all.empty());
    for (const ConditionCase& condition : condition_cases()) {
      CAPTURE(condition.name);
      Problem problem = make_data(Data::gaussian, 12, 4, 3, !variant.has_bidirectional_form());
      condition.apply(problem);
      const bool cap_or_sink = condition.name == "soft cap" || condition.name == "sink";
      const bool expected = variant.conditions == Conditions::none ||
                            (variant.conditions == Conditions::cap_and_sink && !cap_or_sink);
      const std::string why = variant.refusal(problem);
      CHECK(why.empty() == !expected);
      if (!expected) continue;
      CHECK(why.ends_with(": " + variant.why_not_all));
      CHECK_THROWS_AS(make_plan(*backends().front(), problem, variant.id, {}), const UsageError&);
    }
  }
}

TEST_CASE("a prefix of a head has the conditions of its first tokens") {
  for (const ConditionCase& condition : condition_cases()) {
    CAPTURE(condition.name);
    Problem whole = make_data(Data::gaussian, 41, 4, 3, true);
    condition.apply(whole);
    const Problem first = prefix_of(whole, 23);
    bool same = true;
    double apart = 0;
    for (Index i = 0; i < 23; ++i)
      for (Index j = 0; j < 23; ++j) {
        same &= first.admits(i, j) == whole.admits(i, j);
        apart = std::max(apart, std::abs(first.logit(i, j) - whole.logit(i, j)));
      }
    CHECK(same);
    CHECK(apart == 0);
    const Instance a = make_instance(*backends().front(), whole, "exact", {}),
                   b = make_instance(*backends().front(), first, "exact", {});
    // The mask is causal: later tokens have no say in the first rows.
    CHECK(distance(b.all(), a.all(), 23, 23) <= 2 * floor_of(a));
  }
}

TEST_CASE("metrics take the sink for one more outcome, and mass of the keys alone") {
  Problem problem = make_data(Data::gaussian, 40, 4, 3, true);
  problem.window = 12;
  std::vector<std::int32_t> keys(40);
  for (std::size_t j = 0; j < 5; ++j) keys[j] = PairMask::padding;  // the first queries have no key
  set_mask(problem, std::vector<std::int32_t>(40), keys);
  change_rule(problem, [](LogitRule& rule) { rule.sink = 0.5; });
  const Instance exact = make_instance(*backends().front(), problem, "exact", {}),
                 other = make_instance(*backends().front(), problem, "window", {{"width", "4"}});
  Profile profile;
  Run run{profile};
  const Metrics m =
      compare(*other.bound, other.apply(problem.v), *exact.bound, exact.apply(problem.v), run);
  const Matrix p = exact.all(), q = other.all();
  double variation = 0, kl = 0, reverse_kl = 0, kept = 0;
  for (Index i = 0; i < 40; ++i) {
    double p_sum = 0, q_sum = 0, both = 0;
    for (Index j = 0; j < 40; ++j) {
      const auto a = static_cast<double>(p(i, j)), b = static_cast<double>(q(i, j));
      p_sum += a;
      q_sum += b;
      both += b > 0 ? a : 0;
      variation += std::abs(a - b) / 2;
      if (a > 0) kl += b > 0 ? a * std::log(a / b) : HUGE_VAL;
      if (b > 0) reverse_kl += b * std::log(b / a);  // its window is the narrower one
    }
    variation += std::abs(p_sum - q_sum) / 2;
    kl += (1 - p_sum) * std::log((1 - p_sum) / (1 - q_sum));
    reverse_kl += (1 - q_sum) * std::log((1 - q_sum) / (1 - p_sum));
    kept += p_sum > 0 ? both / p_sum : 1;
    if (p_sum == 0) CHECK(m.dropped_mass[static_cast<std::size_t>(i)] == 0.0f);
  }
  CHECK(m.attention_tv.value == doctest::Approx(variation / 40).epsilon(1e-5));
  CHECK(m.mass_kept.value == doctest::Approx(kept / 40).epsilon(1e-5));
  CHECK(kept / 40 < 0.99);
  for (const Estimate& recall : m.top_recall) CHECK(std::isfinite(recall.value));
  CHECK(std::isinf(kl));
  CHECK(m.attention_reverse_kl->value == doctest::Approx(reverse_kl / 40).epsilon(1e-5));
}

TEST_CASE(
    "a pair counts within one document, and padding meets nothing, whatever the numbers are") {
  const std::vector<std::int32_t> queries{5, 5, PairMask::padding, 2'000'000'000, 0, 3},
      keys{5, PairMask::padding, 0, 5, 2'000'000'000, 4};
  const PairMask mask(queries, keys, {});
  for (Index i = 0; i < 6; ++i) {
    Index count = 0;
    for (Index j = 0; j < 6; ++j) {
      const std::int32_t query = queries[static_cast<std::size_t>(i)],
                         key = keys[static_cast<std::size_t>(j)];
      const bool expected = query == key && key != PairMask::padding;
      CHECK(mask.admits(i, j) == expected);
      count += expected;
    }
    CHECK(mask.count(i, {0, 6}) == count);
  }
  CHECK_THROWS_AS(PairMask({0}, {}, {}), const InputError&);
  CHECK_THROWS_AS(PairMask({0}, {-2}, {}), const InputError&);
  CHECK_THROWS_AS(PairMask({0, 0}, {0, 0}, BitMatrix(2, 3)), const InputError&);
}
