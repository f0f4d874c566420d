// What holds for heads with other numbers of queries than of keys: cross attention, and the steps
// of a model that keeps its keys.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/block_mask.h"
#include "analysis/cost.h"
#include "analysis/metrics.h"
#include "analysis/support.h"
#include "laws/conditions.h"
#include "laws/formulas.h"
#include "laws/selection_states.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Lengths some_lengths[] = {{1, 40}, {7, 24}, {24, 7}, {33, 100}, {97, 64}, {20, 1}};

/// A head of `longer` tokens without some of its first queries, or keys.
Problem make_unequal(Lengths lengths, bool causal, Index head = 0) {
  const Index longer = std::max(lengths.queries, lengths.keys);
  Problem problem = make_data(Data::gaussian, longer, 6, 3, causal, head);
  problem.q = problem.q.slice({longer - lengths.queries, longer});
  problem.k = problem.k.slice({longer - lengths.keys, longer});
  problem.v = problem.v.slice({longer - lengths.keys, longer});
  return problem;
}

template <class Law>
void for_all_unequal(Law law) {
  for (const Case& c : cases())
    for (const Lengths lengths : some_lengths)
      for (const bool causal : masks_of(c)) {
        const Problem problem = make_unequal(lengths, causal, c.head);
        if (!takes(c, problem)) continue;
        for (const auto& backend : backends()) {
          const std::string where = describe(c) + ", " + lengths.text() +
                                    (causal ? ", causal, " : ", ") + backend->device();
          CAPTURE(where);
          law(c, *backend, make_instance(*backend, problem, c.id, c.settings));
        }
      }
}

/// exp(S_ij) of the pairs that the head admits, over their sum and that of the sink: in float64.
Matrix softmax_of(const Problem& p) {
  Matrix out(p.q.rows, p.k.rows);
  for (Index i = 0; i < p.q.rows; ++i) {
    std::vector<double> weights(static_cast<std::size_t>(p.k.rows));
    double sum = sink_of(p) ? std::exp(*sink_of(p)) : 0;
    for (Index j = 0; j < p.k.rows; ++j) {
      if (!sees(p, i, j)) continue;
      double s = 0;
      for (Index c = 0; c < p.q.cols; ++c)
        s += static_cast<double>(p.q(i, c)) * static_cast<double>(p.k(j, c));
      sum += weights[static_cast<std::size_t>(j)] = std::exp(ruled(p, p.scale * s, i, j));
    }
    for (Index j = 0; j < p.k.rows && sum > 0; ++j)
      out(i, j) = static_cast<float>(weights[static_cast<std::size_t>(j)] / sum);
  }
  return out;
}

}  // namespace

TEST_CASE("law: the last queries of a sequence have the rows that they have among all queries") {
  int compared = 0;
  for_all_unequal([&](const Case& c, const Backend& backend, const Instance& x) {
    const auto [queries, keys] = x.problem.lengths();
    if (queries > keys || x.plan->rounded) return;  // queries share scales
    const Problem all = make_data(Data::gaussian, keys, 6, 3, x.problem.causal, c.head);
    const Instance whole = make_instance(backend, all, c.id, c.settings);
    const Index first = keys - queries;
    // The same products, perhaps by another number of lanes.
    const double slack = 2 * floor_of(whole);
    CHECK(distance(
              x.all(), [&, p = whole.all()](Index i, Index j) { return p(first + i, j); }, queries,
              keys) <= slack);
    const Output some = x.apply(x.problem.v), its = whole.apply(all.v);
    CHECK(distance(
              some.z, [&](Index i, Index k) { return its.z(first + i, k); }, queries, 3) <=
          slack * largest_entry(all.v) * static_cast<double>(keys));
    REQUIRE(some.lse.size() == (its.lse.empty() ? 0 : static_cast<std::size_t>(queries)));
    ++compared;
  });
  CHECK(compared > 0);
}

TEST_CASE("law: the rows of queries do not depend on the other queries") {
  for_all_unequal([](const Case& c, const Backend& backend, const Instance& x) {
    const Index queries = x.problem.queries(), keys = x.problem.keys();
    if (x.problem.causal || queries < 2 || x.plan->rounded) return;  // queries share scales
    Problem half = x.problem;
    half.q = half.q.slice({queries / 2, queries});
    const Instance some = make_instance(backend, half, c.id, c.settings);
    CHECK(distance(
              some.all(), [&, p = x.all()](Index i, Index j) { return p(queries / 2 + i, j); },
              half.queries(), keys) <= 2 * floor_of(x));
  });
}

TEST_CASE("law: exact attention of unequal lengths is the formula's under every condition") {
  for (const Lengths lengths : some_lengths)
    for (const bool causal : {false, true})
      for (const ConditionCase& condition : condition_cases()) {
        Problem problem = make_unequal(lengths, causal);
        condition.apply(problem);
        const Matrix truth = softmax_of(problem);
        for (const auto& backend : backends()) {
          const std::string where = lengths.text() + (causal ? ", causal, " : ", ") +
                                    condition.name + ", " + backend->device();
          CAPTURE(where);
          const Instance x = make_instance(*backend, problem, "exact", {});
          const double slack =
              4 * floor_of(x) + 4e-6 * largest_logit(problem) + 0x1p-20;  // of sums of 100 weights
          CHECK(distance(x.all(), truth, lengths.queries, lengths.keys) <= slack);
          const Output out = x.apply(problem.v);
          for (Index i = 0; i < lengths.queries; ++i)
            for (Index c = 0; c < problem.dv(); ++c) {
              double z = 0;
              for (Index j = 0; j < lengths.keys; ++j)
                z += static_cast<double>(truth(i, j)) * static_cast<double>(problem.v(j, c));
              CHECK(std::abs(static_cast<double>(out.z(i, c)) - z) <=
                    slack * largest_entry(problem.v) * static_cast<double>(lengths.keys));
            }
        }
      }
}

TEST_CASE("law: parts, pools and rows of unequal lengths are those of the whole") {
  for_all_unequal([](const Case&, const Backend&, const Instance& x) {
    const auto [queries, keys] = x.problem.lengths();
    const Matrix p = x.all();
    const IndexRange rows{queries / 4, queries}, cols{keys / 3, keys};
    const double slack = 2 * floor_of(x);
    CHECK(distance(
              x.tile(rows, cols),
              [&](Index i, Index j) { return p(rows.begin + i, cols.begin + j); }, rows.size(),
              cols.size()) <= slack);
    float most = 0;
    for (Index i = rows.begin; i < rows.end; ++i)
      for (Index j = cols.begin; j < cols.end; ++j) most = std::max(most, p(i, j));
    const Matrix pooled = x.tile(rows, cols, {Pool::Kind::max, 1, 1});
    CHECK(std::abs(static_cast<double>(pooled(0, 0)) - static_cast<double>(most)) <= slack);
    if (!x.bound->has_rows()) return;
    const Index pixel = std::max<Index>(1, queries / 2), begin = queries / pixel / 2 * pixel;
    const RowsOutput some = x.apply_rows({begin, queries}, pixel);
    const Output whole = x.apply(x.problem.v);
    CHECK(distance(
              some.output.z, [&](Index i, Index c) { return whole.z(begin + i, c); },
              queries - begin, x.problem.dv()) <= slack * largest_entry(x.problem.v));
    CHECK(some.most.cols() == (keys + pixel - 1) / pixel);
    REQUIRE(some.most.rows() == (queries - begin + pixel - 1) / pixel);
    const IndexRange first_rows{begin, std::min(queries, begin + pixel)},
        first_cols{0, std::min(keys, pixel)};
    for (const auto& [kind, found] : {std::pair{Pool::Kind::max, some.most(0, 0)},
                                      std::pair{Pool::Kind::mean, some.mean(0, 0)}})
      CHECK(std::abs(static_cast<double>(found) -
                     static_cast<double>(x.tile(first_rows, first_cols, {kind, 1, 1})(0, 0))) <=
            slack);
  });
}

TEST_CASE("law: picked, available and masked pairs of unequal lengths are those of P") {
  for_all_unequal([](const Case& c, const Backend&, const Instance& x) {
    if (c.id != "tc") check_states(x);  // entries of pairs that share nodes can cancel
  });
}

TEST_CASE("law: masks, row sizes and costs of unequal lengths are those of P") {
  for_all_unequal([](const Case& c, const Backend&, const Instance& x) {
    if (c.id == "tc") return;  // entries of pairs that share nodes can cancel
    const auto [queries, keys] = x.problem.lengths();
    const Matrix p = x.all(), fill = block_fill(*x.plan, {0, queries}, {0, keys}, 5, {});
    const Support support(*x.plan);
    CHECK_NOTHROW(check_disjoint(*x.plan));
    double pairs = 0, admissible = 0, filled = 0;
    for (Index i = 0; i < queries; ++i) {
      Index size = 0, allowed = 0;
      bool same = true;
      for (Index j = 0; j < keys; ++j) {
        size += p(i, j) != 0;
        allowed += sees(x.problem, i, j);
        same &= pair_info(support, i, j).covered == (p(i, j) != 0);
      }
      CHECK(same);
      CHECK(support.count(i) == size);
      CHECK(admissible_keys(*x.plan, i) == allowed);
      pairs += static_cast<double>(size);
      admissible += static_cast<double>(allowed);
    }
    for (Index r = 0; r < fill.rows(); ++r)
      for (Index b = 0; b < fill.cols(); ++b)
        filled += static_cast<double>(fill(r, b)) *
                  static_cast<double>(std::min<Index>(5, queries - 5 * r) *
                                      std::min<Index>(5, keys - 5 * b));
    CHECK(filled == doctest::Approx(pairs));
    const Cost cost = count_cost(*x.plan, x.problem.d(), x.problem.dv());
    const auto width = static_cast<double>(x.problem.d() + x.problem.dv());
    CHECK(cost.exact_multiply_adds == admissible * width);
    // Branches share pairs, and one meets blocks of keys.
    if (!x.plan->as<GatedPlan>()) CHECK(cost.pairs == pairs);
  });
}

TEST_CASE("law: metrics of unequal lengths are those of both matrices") {
  for_all_unequal([](const Case&, const Backend& backend, const Instance& x) {
    const Instance exact = make_instance(backend, x.problem, "exact", {});
    Profile profile;
    Run run{profile};
    const Output z = x.apply(x.problem.v), true_z = exact.apply(x.problem.v);
    const Metrics m = compare(*x.bound, z, *exact.bound, true_z, run);
    const auto [queries, keys] = x.problem.lengths();
    CHECK(m.rows == queries);
    CHECK(std::ssize(m.token_error) == queries);
    const Matrix p = exact.all(), q = x.all();
    double variation = 0;
    for (Index i = 0; i < queries; ++i)
      for (Index j = 0; j < keys; ++j)
        variation += std::abs(static_cast<double>(p(i, j)) - static_cast<double>(q(i, j))) / 2;
    CHECK(m.attention_tv.value ==
          doctest::Approx(variation / static_cast<double>(queries)).epsilon(1e-4));
  });
}

TEST_CASE("a variant of one sequence refuses other numbers of queries than of keys, and says why") {
  for (const Variant& variant : variants())
    for (const Lengths lengths : some_lengths)
      for (const bool causal : {false, true}) {
        const Problem problem = make_unequal(lengths, causal);
        const bool last = causal && lengths.queries < lengths.keys;
        const bool expected = variant.unequal_lengths == UnequalLengths::all ||
                              (variant.unequal_lengths == UnequalLengths::last_queries && last);
        if (!(causal ? variant.has_causal_form() : variant.has_bidirectional_form())) continue;
        CAPTURE(variant.id);
        CHECK(variant.refusal(problem).empty() == expected);
        if (expected) continue;
        CHECK(variant.refusal(problem).starts_with(variant.label + " has no form for " +
                                                   lengths.text() +
                                                   ": it pairs the positions of one sequence"));
        CHECK_THROWS_AS(make_plan(*backends().front(), problem, variant.id, {}), const UsageError&);
      }
}
