// What a head does: heads that are built for one thing, and formulas in double over dense matrices.
#include "analysis/head_measures.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "analysis/effective_rank.h"
#include "backend/singular_values.h"
#include "data/logit_rule.h"
#include "harness.h"
#include "laws/conditions.h"
#include "weights.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Weights are floats, of relative rounding 2^-24 = 6e-8; sums over some hundred of them in double.
constexpr double weight_rounding = 1e-5;

std::size_t measure_place(const std::string& id) {
  const auto place = head_measure_with(id);
  REQUIRE(place);
  return *place;
}

const HeadValue& head_value(const MeasuredHead& head, const std::string& id) {
  return head.values[measure_place(id)];
}

double head_number(const MeasuredHead& head, const std::string& id) {
  return head_value(head, id).estimate.value;
}

/// n words of which none is twice there, then the same again.
std::vector<std::string> repeated_words(Index n) {
  std::vector<std::string> words;
  for (Index i = 0; i < 2 * n; ++i) words.push_back("word" + std::to_string(i % n));
  return words;
}

MeasuredHead measures_of(const Matrix& p, const std::vector<std::string>& tokens = {},
                         double max_entries = most_read_entries, std::uint64_t seed = 0) {
  Profile profile;
  Run run{profile};
  return measure_head({.lengths = {p.rows(), p.cols()}, .read = reads(p), .tokens = tokens}, run,
                      max_entries, seed);
}

/// Every query attends one key alone.
Matrix one_key_each(Index n, const std::function<Index(Index)>& key_of) {
  Matrix p(n, n);
  for (Index i = 0; i < n; ++i) p(i, key_of(i)) = 1;
  return p;
}

/// The measures of rows in double, over whole matrices, from their definitions.
struct WholeRows {
  Index queries = 0, keys = 0;
  std::vector<double> p;            // [queries, keys]
  std::vector<bool> admitted;       // the same
  std::vector<std::string> tokens;  // [keys]

  double weight(Index i, Index j) const { return p[std::size_t(i * keys + j)]; }
  bool admits(Index i, Index j) const { return admitted[std::size_t(i * keys + j)]; }

  /// The mean over queries that may attend a key of which `is_meant` holds.
  double mean_on(const std::function<bool(Index t, Index j)>& is_meant) const {
    double sum = 0, count = 0;
    for (Index i = 0; i < queries; ++i) {
      double on = 0;
      bool any = false;
      for (Index j = 0; j < keys; ++j)
        if (admits(i, j) && is_meant(i + keys - queries, j)) any = true, on += weight(i, j);
      sum += any ? on : 0;
      count += any;
    }
    return sum / count;
  }
  double mean_of(const std::function<double(Index i, double sum)>& of_row) const {
    double all = 0, count = 0;
    for (Index i = 0; i < queries; ++i) {
      double sum = 0;
      for (Index j = 0; j < keys; ++j) sum += weight(i, j);
      if (sum == 0) continue;
      all += of_row(i, sum);
      ++count;
    }
    return all / count;
  }
  double share_within(Index tokens_away) const {
    return mean_of([&](Index i, double) {
      double on = 0;
      for (Index j = 0; j < keys; ++j)
        if (std::abs(i + keys - queries - j) <= tokens_away) on += weight(i, j);
      return on;
    });
  }
  double distance() const {
    return mean_of([&](Index i, double sum) {
      double all = 0;
      for (Index j = 0; j < keys; ++j)
        all += weight(i, j) * double(std::abs(i + keys - queries - j));
      return all / sum;
    });
  }
  double entropy() const {
    return mean_of([&](Index i, double sum) {
      double all = 0;
      for (Index j = 0; j < keys; ++j)
        if (weight(i, j) > 0) all -= weight(i, j) / sum * std::log(weight(i, j) / sum);
      return all;
    });
  }
  bool same(Index t, Index j) const {
    return j >= 0 && tokens[std::size_t(t)] == tokens[std::size_t(j)];
  }
};

/// Softmax of a problem in double.
WholeRows whole_rows_of(const Problem& problem, std::vector<std::string> tokens) {
  WholeRows out{.queries = problem.queries(), .keys = problem.keys(), .tokens = std::move(tokens)};
  const double sink = problem.rule && problem.rule->sink ? std::exp(*problem.rule->sink) : 0;
  for (Index i = 0; i < out.queries; ++i) {
    std::vector<double> row;
    double sum = sink;
    for (Index j = 0; j < out.keys; ++j) {
      const bool admits = problem.admits(i, j);
      double dot = 0;
      for (Index c = 0; c < problem.d(); ++c) dot += double{problem.q(i, c)} * problem.k(j, c);
      row.push_back(admits ? std::exp(problem.scale * dot) : 0);
      sum += row.back();
      out.admitted.push_back(admits);
    }
    for (const double weight : row) out.p.push_back(sum > 0 ? weight / sum : 0);
  }
  return out;
}

double rank_in_double(const WholeRows& dense) {
  return effective_rank(singular_values(dense.p.data(), dense.queries, dense.keys).values);
}

}  // namespace

TEST_CASE("a head on previous tokens has all of its weight there, one token away") {
  constexpr Index n = 50;
  const MeasuredHead head =
      measures_of(one_key_each(n, [](Index i) { return std::max<Index>(0, i - 1); }));
  CHECK(head_number(head, "previous_token") == 1);
  CHECK(head_value(head, "previous_token").queries == n - 1);
  CHECK(head_number(head, "within_16") == 1);
  CHECK(head_number(head, "distance") == doctest::Approx(double(n - 1) / n));
  CHECK(head_number(head, "entropy") == 0);
  CHECK(head_number(head, "first_token") == doctest::Approx(2.0 / n));
  // Two rows are equal: σ is √2 once, 1 for the other n - 2, and 0.
  const double sum = std::numbers::sqrt2 + n - 2, top = std::numbers::sqrt2 / sum;
  const double entropy = -top * std::log(top) + (n - 2) / sum * std::log(sum);
  CHECK(head_number(head, "effective_rank") == doctest::Approx(std::exp(entropy)));
}

TEST_CASE("an induction head on repeated words has all of its weight behind the earlier word") {
  constexpr Index n = 40;  // words, each twice
  const auto words = repeated_words(n);
  const MeasuredHead head =
      measures_of(one_key_each(2 * n, [](Index i) { return i < n ? 0 : i - n + 1; }), words);
  CHECK(head_number(head, "induction") == 1);
  CHECK(head_value(head, "induction").queries == n);
  CHECK(head_number(head, "same_token") == 0);
  CHECK(head_number(head, "first_token") == 0.5);
  CHECK(head_number(head, "within_16") == doctest::Approx(17.0 / (2 * n)));  // the first 17 queries
}

TEST_CASE("a head on the same token before has all of its weight there, and counts each once") {
  constexpr Index n = 40;
  const MeasuredHead twice = measures_of(
      one_key_each(2 * n, [](Index i) { return i < n ? 0 : i - n; }), repeated_words(n));
  CHECK(head_number(twice, "same_token") == 1);
  CHECK(head_value(twice, "same_token").queries == n);
  CHECK(head_number(twice, "induction") == 0);
  // Where all tokens are equal each key before is one, and what follows it is one for induction.
  const std::vector<std::string> equal(std::size_t(n), "a");
  const MeasuredHead even = measures_of(Matrix(n, n, 1.0f / n), equal);
  double before = 0;
  for (Index i = 1; i < n; ++i) before += double(i) / n / (n - 1);
  CHECK(head_number(even, "same_token") == doctest::Approx(before));
  CHECK(head_number(even, "induction") == doctest::Approx(before));
}

TEST_CASE("a head that attends all keys evenly has the largest entropy and the least rank") {
  constexpr Index n = 300;
  const MeasuredHead head = measures_of(Matrix(n, n, 1.0f / n));
  CHECK(head_number(head, "entropy") == doctest::Approx(std::log(double(n))));
  // The least singular values are rounding, below 1e-7 of the largest: with n of them the entropy
  // is at most n 1e-7 ln(1e7) = 5e-4.
  CHECK(head_number(head, "effective_rank") == doctest::Approx(1).epsilon(1e-3));
  CHECK(head_number(head, "distance") == doctest::Approx((double(n) * n - 1) / (3.0 * n)));
  CHECK(head_number(head, "first_token") == doctest::Approx(1.0 / n));
  double within = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) within += std::abs(i - j) <= 128 ? 1.0 / n / n : 0;
  CHECK(head_number(head, "within_128") == doctest::Approx(within));
}

TEST_CASE(
    "measures are those of double arithmetic, under each mask, with sinks and unequal lengths") {
  struct Case {
    std::string name;
    bool causal = false;
    Index queries = 45, keys = 45;
    std::function<void(Problem&)> change = {};
  };
  const Case cases[] = {
      {.name = "bidirectional"},
      {.name = "causal", .causal = true},
      {.name = "window", .causal = true, .change = [](Problem& p) { p.window = 9; }},
      {.name = "documents",
       .causal = true,
       .change = [](Problem& p) { set_mask(p, growing_documents(45), growing_documents(45)); }},
      {.name = "padding",
       .change =
           [](Problem& p) {
             set_mask(p, std::vector<std::int32_t>(45, 0), padded_at_both_ends(45));
           }},
      {.name = "causal with padding",
       .causal = true,
       .change =
           [](Problem& p) {
             set_mask(p, std::vector<std::int32_t>(45, 0), padded_at_both_ends(45));
           }},
      {.name = "pairs", .change = [](Problem& p) { set_mask(p, {}, {}, random_pairs(45, 45)); }},
      {.name = "sink",
       .causal = true,
       .change = [](Problem& p) { change_rule(p, [](LogitRule& rule) { rule.sink = 1.5; }); }},
      {.name = "cached keys", .causal = true, .queries = 12},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    Problem problem = make_problem(gaussian(each.queries, 6, 1), gaussian(each.keys, 6, 2),
                                   gaussian(each.keys, 2, 3), 0.9, each.causal);
    if (each.change) each.change(problem);
    std::vector<std::string> tokens;
    for (Index j = 0; j < each.keys; ++j) tokens.push_back(std::to_string(j * j % 11));
    const Instance exact = make_instance(*backends().front(), problem, "exact", {});
    Profile profile;
    Run run{profile};
    const MeasuredHead head = measure_head({.lengths = problem.lengths(),
                                            .read =
                                                [&](IndexRange rows, Run&) {
                                                  return exact.tile(rows, {0, each.keys});
                                                },
                                            .plan = exact.plan.get(),
                                            .tokens = tokens},
                                           run);
    const WholeRows dense = whole_rows_of(problem, tokens);
    Index without = 0, first = each.keys;
    for (Index i = 0; i < each.queries; ++i) {
      bool any = false;
      for (Index j = 0; j < each.keys; ++j)
        if (dense.admits(i, j)) any = true, first = std::min(first, j);
      without += !any;
    }
    CHECK(head.rows == each.queries);
    CHECK(head.rows_without_keys == without);
    struct Expected {
      const char* id;
      double value;
    };
    const Expected expected[] = {
        {"previous_token", dense.mean_on([](Index t, Index j) { return j == t - 1; })},
        {"same_token", dense.mean_on([&](Index t, Index j) { return j < t && dense.same(t, j); })},
        {"induction",
         dense.mean_on([&](Index t, Index j) { return j <= t && dense.same(t, j - 1); })},
        {"first_token", dense.mean_on([&](Index, Index j) { return j == first; })},
        {"within_16", dense.share_within(16)},
        {"within_128", dense.share_within(128)},
        {"distance", dense.distance()},
        {"entropy", dense.entropy()},
        {"effective_rank", rank_in_double(dense)}};
    for (const Expected& one : expected) {
      CAPTURE(one.id);
      const HeadValue& found = head_value(head, one.id);
      CHECK(found.missing == "");
      CHECK(found.estimate.standard_error == 0);
      CHECK(std::abs(found.estimate.value - one.value) <=
            weight_rounding * std::max(1.0, one.value));
    }
  }
}

TEST_CASE("what a head cannot have is missing, with the reason") {
  const Matrix p(8, 8, 0.125f);
  CHECK(head_value(measures_of(p), "induction").missing == "The source does not name its tokens.");
  CHECK(std::isnan(head_number(measures_of(p), "induction")));
  CHECK(head_value(measures_of(p), "previous_token").missing == "");
  const std::vector<std::string> different{"a", "b", "c", "d", "e", "f", "g", "h"};
  CHECK(head_value(measures_of(p, different), "same_token").missing ==
        "No query may attend such a key.");
  Profile profile;
  Run run{profile};
  const MeasuredHead across = measure_head(
      {.lengths = {8, 8}, .read = reads(p), .places_known = false, .tokens = different}, run);
  for (const char* id : {"previous_token", "same_token", "induction", "distance", "within_16"})
    CHECK(head_value(across, id).missing == "The keys are not the tokens of the queries.");
  CHECK(head_number(across, "first_token") == 0.125);
  CHECK(head_number(across, "effective_rank") == doctest::Approx(1));
  Matrix broken = p;
  broken(3, 4) = std::nanf("");
  for (const char* id : {"within_16", "entropy", "distance", "effective_rank"})
    CHECK(head_value(measures_of(broken), id).missing == "A weight is not a finite number.");
}

TEST_CASE("no effective rank is found of a head that is too long for it") {
  constexpr Index n = 5000;
  const auto even = [](IndexRange rows, Run&) { return Matrix(rows.size(), n, 1.0f / 5000); };
  Profile profile;
  Run run{profile};
  const MeasuredHead head = measure_head({.lengths = {n, n}, .read = even}, run, 20.0 * n);
  CHECK(head.rows == 20);
  CHECK(head_value(head, "effective_rank").missing == "It is found up to 4096 tokens.");
  CHECK(head_number(head, "entropy") == doctest::Approx(std::log(5000.0)));
}

TEST_CASE("measures from a sample of rows are near those of all, by their standard errors") {
  constexpr Index n = 400;
  constexpr int draws = 200;
  const Matrix p = random_weights(n, true, 3);
  std::vector<std::string> tokens;
  for (Index j = 0; j < n; ++j) tokens.push_back(std::to_string(j * j % 37));
  const MeasuredHead all = measures_of(p, tokens);
  std::vector<MeasuredHead> samples;
  for (int seed = 0; seed < draws; ++seed) {
    samples.push_back(measures_of(p, tokens, 60.0 * n, std::uint64_t(seed)));
    CHECK(samples.back().rows == 60);
  }
  for (const HeadMeasure& measure : head_measures()) {
    CAPTURE(measure.id);
    if (!measure.of_row) {
      const Estimate& rank = head_value(samples.front(), measure.id).estimate;
      CHECK(rank.value == head_number(all, measure.id));
      continue;
    }
    double found = 0, said = 0;
    for (const MeasuredHead& some : samples) {
      const Estimate& estimate = head_value(some, measure.id).estimate;
      found += std::pow(estimate.value - head_number(all, measure.id), 2) / draws;
      said += std::pow(estimate.standard_error, 2) / draws;
    }
    // A variance from 200 draws is off by sqrt(2 / 200) = 10 %, by more where the tails are heavy,
    // as those of the weight on the first token are; these are three and more of such deviations.
    CHECK(said > 0.5 * found);
    CHECK(said < 2 * found);
  }
}

TEST_CASE("measures over several inputs have a mean and a deviation, of those that have them") {
  const Matrix even(8, 8, 0.125f), own = one_key_each(8, [](Index i) { return i; });
  const std::vector<MeasuredHead> inputs{measures_of(even), measures_of(own)};
  const OverInputs entropy = over_inputs(inputs, measure_place("entropy"));
  CHECK(entropy.inputs == 2);
  CHECK(entropy.mean == doctest::Approx(std::log(8.0) / 2));
  CHECK(entropy.deviation == doctest::Approx(std::log(8.0) / std::numbers::sqrt2));
  const HeadMeasure& measure = head_measures()[measure_place("entropy")];
  CHECK(to_text(measure, OverInputs{1.23456, 0.12345, 2}) == "1.23 ± 0.12");
  CHECK(to_text(measure, OverInputs{1.23456, 0, 1}) == "1.23");
  const OverInputs none = over_inputs(inputs, measure_place("induction"));
  CHECK(none.inputs == 0);
  CHECK(std::isnan(none.mean));
}
