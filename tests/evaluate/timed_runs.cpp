// Rounds of a column beside exact attention, and what is said of them.
#include "evaluate/timed_runs.h"

#include <doctest/doctest.h>

#include <numeric>
#include <thread>

#include "harness.h"
#include "same_values.h"
#include "session/session.h"
#include "variants/learned_tree.h"
#include "window/backend.h"

using namespace fovea;
using namespace fovea::test;

namespace {

TimedRun run_of(double plan, double apply) {
  TimedRun run;
  run.plan.add("tiles", plan);
  run.apply.add("attend", apply);
  return run;
}

/// Writes down what is bound, once for each run: exact or HyperAttention.
class Counting : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    bound += plan->structure.has("query_order") ? 'h' : 'e';
    return CpuLike::bind(std::move(plan), problem, run);
  }
  mutable std::string bound;
};

}  // namespace

TEST_CASE("speed-ups are of the same rounds, and their median is taken") {
  TimedRuns runs;
  // The machine is twice as slow in every second round, for both.
  for (int i = 0; i < 9; ++i) {
    const double slow = i % 2 == 0 ? 1 : 2;
    runs.rounds.push_back({.run = run_of(slow * 1, slow * 4),
                           .exact = run_of(slow * 2, slow * 10),
                           .pace_ms = 1,
                           .sitting = i});
  }
  const auto measured = summarise(runs, 1);
  REQUIRE(measured);
  CHECK(measured->total_speed_up->median == doctest::Approx(2.4));
  CHECK(measured->total_speed_up->interval->low == doctest::Approx(2.4));
  CHECK(measured->exact_total->median_ms == doctest::Approx(12));
  CHECK(measured->apply_speed_up->median == doctest::Approx(2.5));
  CHECK(measured->timing.total.median_ms == doctest::Approx(5));
  CHECK(measured->timing.total.p90_ms == doctest::Approx(10));
  CHECK_FALSE(measured->slow);
  for (TimedRuns::Round& round : runs.rounds) round.exact.reset();
  CHECK_FALSE(summarise(runs, 1)->total_speed_up);
  CHECK_FALSE(summarise(TimedRuns{}, 1));
}

TEST_CASE("rounds of a machine that is slowed down count only where there are no others") {
  TimedRuns runs;
  for (int i = 0; i < 20; ++i) {
    const bool slow = i >= 5;
    runs.rounds.push_back(
        {.run = run_of(0, slow ? 30 : 10), .pace_ms = slow ? 1.6 : 1.0, .sitting = i});
  }
  CHECK(runs.best_pace_ms() == 1);
  const auto mixed = summarise(runs, runs.best_pace_ms());
  CHECK(mixed->slow);  // five quiet ones are too few
  CHECK(mixed->timing.total.median_ms == doctest::Approx(30));
  runs.rounds.push_back({.run = run_of(0, 10), .pace_ms = 1, .sitting = 20});
  const auto quiet = summarise(runs, runs.best_pace_ms());
  CHECK_FALSE(quiet->slow);
  CHECK(quiet->timing.total.samples == 6);
  CHECK(quiet->timing.total.p90_ms == doctest::Approx(10));
  // A machine that was faster at another column makes all of them slow.
  CHECK(summarise(runs, 0.5)->slow);
  CHECK(summarise(runs, 0.5)->timing.total.samples == 21);
}

TEST_CASE("exact attention is timed in the rounds that have a speed-up") {
  TimedRuns runs;
  for (int i = 0; i < 9; ++i)
    runs.rounds.push_back({.run = run_of(0, i < 2 ? 0 : 5),
                           .exact = run_of(0, 20 + i),
                           .pace_ms = i < 8 ? 1.0 : 1.6,
                           .sitting = i});
  runs.rounds.push_back({.run = run_of(0, 5), .pace_ms = 1, .sitting = 9});
  // Two of ten rounds took less time than the clock resolves, and one was not beside exact.
  const TimedRuns exact = exact_runs(runs);
  REQUIRE(exact.rounds.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(exact.rounds[i].run.total_ms() == 22 + static_cast<double>(i));
    CHECK(exact.rounds[i].pace_ms == runs.rounds[i + 2].pace_ms);
    CHECK(exact.rounds[i].sitting == runs.rounds[i + 2].sitting);
    CHECK_FALSE(exact.rounds[i].exact);
  }
  CHECK(summarise(exact, 1)->timing.total.samples == 6);  // one was slow
  CHECK(summarise(runs, 1)->total_speed_up->samples == 6);
  runs.rounds[3].cold = true;
  CHECK(summarise(exact_runs(runs), 1)->cold);
  CHECK(exact_runs(TimedRuns{}).rounds.empty());
}

TEST_CASE("a sitting counts once: rounds in one state of the machine do not make each other sure") {
  // Exact attention is twice as slow in some sittings, for all of their rounds.
  const auto of = [](int sittings, int rounds) {
    TimedRuns runs;
    for (int sitting = 0; sitting < sittings; ++sitting) {
      TimedRuns more;
      for (int i = 0; i < rounds; ++i)
        more.rounds.push_back({.run = run_of(0, 5),
                               .exact = run_of(0, (sitting % 2 == 0 ? 10 : 20) + 0.01 * i),
                               .pace_ms = 1});
      runs.append(more);
    }
    CHECK(runs.sittings() == sittings);
    return *summarise(runs, 1)->total_speed_up;
  };
  CHECK_FALSE(of(1, 64).interval);
  CHECK_FALSE(of(5, 64).interval);
  const SpeedUp both = of(9, 8);  // 5 slow, 4 quick
  REQUIRE(both.interval);
  CHECK(both.interval->low == doctest::Approx(2.007));  // medians of 8 rounds: i = 3.5
  CHECK(both.interval->high == doctest::Approx(4.007));
  CHECK(both.median == doctest::Approx(2.007));
  CHECK(both.samples == 72);
  // Quiet rounds of few sittings are not enough.
  TimedRuns runs;
  for (int sitting = 0; sitting < 8; ++sitting)
    for (int i = 0; i < 8; ++i)
      runs.rounds.push_back(
          {.run = run_of(0, 5), .pace_ms = sitting < 5 ? 1.0 : 1.6, .sitting = sitting});
  CHECK(quiet_rounds(runs, 1).size() == 64);
  CHECK(TimedRuns{}.sittings() == 0);
}

TEST_CASE("rounds of a column that is repeated are of several sittings, long ones of one each") {
  const Problem problem = make_data(Data::gaussian, 32, 4, 2, false);
  const Variant& banded = find_variant("h1d");
  const ComputeRequest request{.variant = &banded, .values = values_for_length(banded, 32)};
  Profile profile;
  Run run{profile};
  const Computation brief{.variant = &banded, .first_run = run_of(0, 1)};
  Counting backend;
  const auto again = [&](const RepeatOptions& options) {
    return measure_again(problem, {{request, &brief}}, nullptr, options, backend, run).front();
  };
  const TimedRuns runs = again({});
  CHECK(runs.paced == 32);  // the best pace is that of heads of one length
  CHECK(runs.sittings() >= enough_samples + 3);
  CHECK(summarise(runs, runs.best_pace_ms())->timing.total.samples >= enough_samples);
  // As many rounds as were asked for, a sitting each.
  const TimedRuns asked =
      again({.rounds = RoundOptions{.time = unlimited_time, .most_rounds = 13}});
  CHECK(asked.rounds.size() == 13);
  CHECK(asked.sittings() == 13);
  CHECK(asked.paced == 32);
  CHECK(again({.rounds = RoundOptions{.time = unlimited_time, .most_rounds = 4}}).sittings() == 4);
  // No sitting follows a long round at once, as that is one.
  class Slow : public CpuLike {
    std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& its,
                                   Run& its_run) const override {
      std::this_thread::sleep_for(long_round);
      its_run.profile.add("slow", 50);
      return CpuLike::bind(std::move(plan), its, its_run);
    }
  } slow;
  CHECK(measure_rounds(problem, {request}, {.time = unlimited_time, .most_rounds = 3}, slow, run)
            .front()
            .sittings() == 3);
}

TEST_CASE("what takes seconds is not run again: its first run is the only round") {
  const TimedRun quick = run_of(1, 9), slow = run_of(100, 2900);
  const Problem problem = make_data(Data::gaussian, 32, 4, 2, false);
  const Variant& banded = find_variant("h1d");
  const ComputeRequest request{.variant = &banded, .values = values_for_length(banded, 32)};
  Counting backend;
  Profile profile;
  Run run{profile};
  Computation computed{.variant = &banded, .first_run = quick};
  computed.backend = "cpu";
  Computation exact{.variant = &reference_variant(), .first_run = slow};
  CHECK(can_be_repeated(computed, nullptr, 30));
  CHECK_FALSE(can_be_repeated(computed, nullptr, 20));  // one that warms up and one that counts
  CHECK_FALSE(can_be_repeated(computed, &computed, 30));
  const auto again = [&](const RepeatOptions& options) {
    return measure_again(problem, {{request, &computed}}, &exact, options, backend, run).front();
  };
  const TimedRuns once = again({});
  CHECK(backend.bound.empty());
  REQUIRE(once.rounds.size() == 1);
  CHECK(once.rounds[0].run.total_ms() == quick.total_ms());
  CHECK(once.rounds[0].exact->total_ms() == slow.total_ms());
  CHECK(summarise(once, once.best_pace_ms())->cold);
  computed.backend = "cuda";  // where exact attention has uploaded what the column finds
  CHECK_FALSE(again({}).rounds[0].exact);
  computed.backend = "cpu";
  TimedRuns mixed = once;  // of several heads: no pace was measured for that one
  for (int i = 0; i < 6; ++i) mixed.rounds.push_back({.run = quick, .pace_ms = 2});
  CHECK(mixed.best_pace_ms() == 2);
  CHECK_FALSE(summarise(mixed, mixed.best_pace_ms())->slow);
  const RoundOptions two{.time = unlimited_time, .most_rounds = 2};
  CHECK(again({.rounds = two, .budget_ms = 1e4}).rounds.size() == 2);
  exact.first_run = quick;
  backend.bound.clear();
  CHECK(again({}).rounds.size() > 1);
  CHECK(backend.bound.substr(0, 4) == "eeee");
}

TEST_CASE("rounds: learning that is not repeated does not count, and its tree is given") {
  const Problem problem = make_data(Data::gaussian, 64, 4, 2, false);
  const Variant& tree = find_variant("tf");
  Values values = values_for_length(tree, 64);
  set_learned(tree, values, 3);
  const ComputeRequest request{.variant = &tree, .values = values};
  Profile profile;
  Run run{profile};
  const Backend& backend = *backends().front();
  Computation computed = compute(problem, request, backend, run);
  const double budget = 3 * computed.first_run.total_ms();
  computed.first_run.learning.add("learn", budget);
  CHECK(can_be_repeated(computed, nullptr, budget));
  computed.values = values_for_length(tree, 64);  // a tree that each run builds
  CHECK_FALSE(can_be_repeated(computed, nullptr, budget));
  const ComputeRequest again = repetition_of(request, computed);
  CHECK(again.given.has("tree_weight"));
  const Computation repeated = compute(problem, again, backend, run);
  CHECK(same_values(repeated.output.z, computed.output.z));
  // What a person gave stays given, where nothing is learned.
  const Variant& hyper = find_variant("hyper");
  ComputeRequest sorted{.variant = &hyper, .values = values_for_length(hyper, 64)};
  std::vector<std::int32_t> order(64);
  std::iota(order.rbegin(), order.rend(), 0);
  sorted.given.set("query_order", order);
  CHECK(repetition_of(sorted, computed).given.has("query_order"));
}

TEST_CASE("rounds alternate with exact attention, and the first one warms up") {
  Counting backend;
  // More tokens than its blocks, so that it sorts them.
  const Problem problem = make_data(Data::gaussian, 96, 4, 2, false);
  const Variant& hyper = find_variant("hyper");
  const ComputeRequest request{
      .variant = &hyper,
      .values = values_of(hyper, {{"block", "8"}, {"samples", "8"}, {"min_length", "0"}})};
  Profile profile;
  Run run{profile};
  const TimedRuns runs = measure_rounds(problem, {{.variant = &reference_variant()}, request},
                                        {.time = unlimited_time, .most_rounds = 3}, backend, run)
                             .back();
  CHECK(runs.rounds.size() == 3);
  CHECK(backend.bound.substr(0, 8) == "ehheehhe");
  CHECK(runs.best_pace_ms() > 0);
  CHECK(runs.spent_ms() > 0);
  for (const TimedRuns::Round& round : runs.rounds) {
    REQUIRE(round.exact);
    CHECK(round.exact->total_ms() > 0);
    CHECK(round.run.plan.total_ms() > 0);
    CHECK(round.run.apply.total_ms() > 0);
  }
  // One that takes all the time is the only one.
  backend.bound.clear();
  const TimedRuns one =
      measure_rounds(problem, {request}, {.time = std::chrono::milliseconds(0)}, backend, run)
          .front();
  CHECK(one.rounds.size() == 1);
  CHECK_FALSE(one.rounds[0].exact);
  CHECK(backend.bound[0] == 'h');
}

TEST_CASE("all columns of a table run in the same rounds, in turn") {
  Counting backend;
  const Problem problem = make_data(Data::gaussian, 96, 4, 2, false);
  const Variant& hyper = find_variant("hyper");
  const ComputeRequest exact{.variant = &reference_variant()};
  const ComputeRequest sorted{
      .variant = &hyper,
      .values = values_of(hyper, {{"block", "8"}, {"samples", "8"}, {"min_length", "0"}})};
  const Variant& banded = find_variant("h1d");
  const ComputeRequest other{.variant = &banded, .values = values_for_length(banded, 96)};
  Profile profile;
  Run run{profile};
  const auto all = measure_rounds(problem, {exact, sorted, other},
                                  {.time = unlimited_time, .most_rounds = 4}, backend, run);
  // Another one begins in each round; 'e' is also what does not sort.
  CHECK(backend.bound.substr(0, 15) ==
        "ehe"
        "hee"
        "eeh"
        "ehe"
        "hee");
  REQUIRE(all.size() == 3);
  for (std::size_t round = 0; round < 4; ++round) {
    CHECK_FALSE(all[0].rounds[round].exact);
    for (const std::size_t column : {1, 2})
      CHECK(all[column].rounds[round].exact->total_ms() == all[0].rounds[round].run.total_ms());
  }
  // A report's columns: exact attention has the rounds of the others, a slow column its first run.
  const Computation quick_exact{.variant = &reference_variant(), .first_run = run_of(1, 2)},
      quick{.variant = &hyper, .first_run = run_of(1, 2)},
      slow{.variant = &banded, .first_run = run_of(100, 6000)};
  const auto again =
      measure_again(problem, {{exact, &quick_exact}, {sorted, &quick}, {other, &slow}},
                    &quick_exact, {}, backend, run);
  REQUIRE(again.size() == 3);
  REQUIRE(again[0].rounds.size() == again[1].rounds.size());
  CHECK(again[1].rounds.size() > 1);
  for (std::size_t round = 0; round < again[0].rounds.size(); ++round)
    CHECK(again[1].rounds[round].exact->total_ms() == again[0].rounds[round].run.total_ms());
  REQUIRE(again[2].rounds.size() == 1);
  CHECK(again[2].rounds[0].cold);
}

TEST_CASE("a speed-up has an interval of order statistics, by the binomial distribution") {
  const auto of = [](int count) {
    std::vector<double> ratios;
    for (int i = count; i >= 1; --i) ratios.push_back(i);
    return speed_up_of(std::move(ratios));
  };
  CHECK_FALSE(of(1).interval);
  CHECK_FALSE(of(5).interval);           // 2 / 2^5 = .0625 lies outside of the extremes
  REQUIRE(of(enough_samples).interval);  // 2 / 2^6 = .031
  CHECK(of(6).interval->low == 1);
  CHECK(of(6).interval->high == 6);
  // The tables of the sign test, two-sided at .05: 2 of 9, 6 of 20, 40 of 100.
  CHECK(of(9).interval->low == 2);
  CHECK(of(20).interval->low == 6);
  CHECK(of(20).interval->high == 15);
  CHECK(of(100).interval->low == 40);
  CHECK(of(100).median == 50.5);
  // Sums of binomial coefficients in exact integers give 228, 229 and 2431; beyond 500 ratios it
  // may be one less, and there is no end to how many there may be.
  CHECK(of(500).interval->low == 228);
  CHECK(of(501).interval->low == 228);
  CHECK(of(5000).interval->low == 2430);
  CHECK(to_text(speed_up_of({120, 121, 122, 119, 118, 124})) == "120 × (118 – 124)");
  CHECK(to_text(speed_up_of({2.44, 2.34, 2.41, 2.42, 2.52, 2.5})) == "2.4 × (2.3 – 2.5)");
  CHECK(to_text(speed_up_of({0.94, 0.96, 1.04, 1.02, 1.1, 0.99})) == "no difference (0.94 – 1.1)");
  // Too few or too unsteady rounds: the interval holds 1, and much else.
  CHECK(to_text(speed_up_of({0.92, 1.8, 1.7, 1.75, 1.79, 1.6})) == "not decided (0.92 – 1.8)");
  CHECK(to_text(speed_up_of({0.8, 1.01, 1, 0.99, 1.02, 1.05})) == "not decided (0.80 – 1.1)");
  CHECK(to_text(speed_up_of({2.44})) == "2.4 ×");
  // A number says what it is, as it need not be the ratio of two medians beside it.
  CHECK(basis_text(speed_up_of({2.44})) == "ratio of one round");
  CHECK(basis_text(speed_up_of({2, 3, 4})) == "median of the ratios of 3 rounds");
  CHECK(basis_text(speed_up_in({{2, 3}, {4}})) == "median of the ratios of 3 rounds in 2 sittings");
  // A bound beside 1 is not written as 1.
  CHECK(to_text(speed_up_of({1.004, 1.06, 1.07, 1.08, 1.09, 1.12})) == "1.1 × (1.004 – 1.1)");
}
