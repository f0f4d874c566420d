// The sweep over n: where the crossover lies, what is fitted to short texts, and that every number
// was measured.
#include "sweep/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "analysis/metrics.h"
#include "data/error.h"
#include "harness.h"
#include "sweep/sweeper.h"

using namespace fovea;

namespace {

using Ratios = std::vector<std::pair<Index, double>>;

/// A Sweep of exact at c n^2 and one variant at a n, as if measured.
/// `spread`: p90 of a time over its median, and the median over p10.
Sweep quadratic_against_linear(double c, double a, Index last, double spread = 1) {
  Sweep sweep{.lengths = sweep_lengths(last)};
  sweep.best_pace_ms = 1;
  sweep.series.push_back({.column = {.variant = "exact"}});
  sweep.series.push_back(
      {.column = {.variant = "h1d", .values = defaults(find_variant("h1d").schema)}});
  const auto time = [spread](double ms) {
    return StageSummary{
        .name = "", .median_ms = ms, .p10_ms = ms / spread, .p90_ms = ms * spread, .samples = 9};
  };
  for (const Index n : sweep.lengths) {
    const auto x = static_cast<double>(n);
    for (const std::size_t s : {0u, 1u}) {
      SweepPoint point{.n = n, .values = sweep.series[s].column.values};
      point.total = point.apply = time(s == 0 ? c * x * x : a * x);
      point.pace_ms = 1;
      sweep.series[s].points.push_back(point);
    }
  }
  return sweep;
}

Problem head(Index n) {
  return test::make_data(test::Data::gaussian, n, 8, 8, false);
}

Column column(const std::string& id, Index n) {
  return {.variant = id, .values = values_for_length(find_variant(id), n), .seed = 3};
}

/// All of it.
void finish(Sweeper& sweeper) {
  Profile profile;
  Run run{profile};
  while (sweeper.step(*test::backends().front(), run)) {
  }
}

}  // namespace

TEST_CASE("sweep: powers of two from 256, fewer for short heads, and the head's own length") {
  CHECK(sweep_lengths(2048) == std::vector<Index>{256, 512, 1024, 2048});
  CHECK(sweep_lengths(5000) == std::vector<Index>{256, 512, 1024, 2048, 4096, 5000});
  CHECK(sweep_lengths(131072).size() == 10);
  CHECK(sweep_lengths(197) == std::vector<Index>{16, 32, 64, 128, 197});
  CHECK(sweep_lengths(16) == std::vector<Index>{16});
  CHECK(sweep_lengths(1) == std::vector<Index>{1});
}

TEST_CASE("crossover: power laws cross where they do, whatever was measured around it") {
  for (const double at : {300.0, 1000.0, 1999.0}) {
    const Sweep sweep = quadratic_against_linear(1e-6, 1e-6 * at, 8192);
    const Crossover found = crossover_of(sweep, 1, SweepTime::total);
    REQUIRE(found.kind == Crossover::Kind::at);
    CHECK(found.n == doctest::Approx(at).epsilon(1e-9));  // straight lines in logarithms: exactly
    CHECK(found.below < found.n);
    CHECK(found.n < found.above);
    CHECK(found.above == 2 * found.below);
  }
}

TEST_CASE("crossover: nothing is extrapolated beyond what was measured") {
  // They would cross at 5000 and at 100: the measured lengths are 256 to 4096.
  CHECK(crossover_of(quadratic_against_linear(1e-6, 5e-3, 4096), 1, SweepTime::total).kind ==
        Crossover::Kind::never);
  const Crossover before =
      crossover_of(quadratic_against_linear(1e-6, 1e-4, 4096), 1, SweepTime::total);
  CHECK(before.kind == Crossover::Kind::everywhere);
  CHECK(before.above == 256);
  CHECK(crossover_of(Ratios{}).kind == Crossover::Kind::unknown);
  CHECK(to_text(crossover_of(Ratios{{256, 2.0}})) == "not faster within the measured range");
  CHECK(to_text(crossover_of(Ratios{{256, 0.5}})) == "faster at every n measured");
  CHECK(to_text(crossover_of(Ratios{}), false) == "not measured yet");
  CHECK(to_text(crossover_of(Ratios{{256, 0.5}}), false) == "faster so far");
}

TEST_CASE("crossover: where times vary it lies in a range, or is not decided") {
  const auto text = [](double at, double spread) {
    return to_text(
        crossover_of(quadratic_against_linear(1e-6, 1e-6 * at, 4096, spread), 1, SweepTime::total));
  };
  // The ratio is at / n: times that are off by 1.1 to either side move it by 1.21.
  const Crossover found =
      crossover_of(quadratic_against_linear(1e-6, 1e-3, 4096, 1.1), 1, SweepTime::total);
  CHECK(found.n == doctest::Approx(1000).epsilon(1e-9));
  CHECK(found.earliest == doctest::Approx(1000 / 1.21).epsilon(1e-9));
  CHECK(found.latest == doctest::Approx(1210).epsilon(1e-9));
  CHECK(text(1000, 1.1) == "faster from n ≈ 1000 (830 – 1200)");
  CHECK(text(1000, 1) == "faster from n ≈ 1000");
  CHECK(text(300, 1.1) == "faster from n ≈ 300 (at most 360)");
  CHECK(text(3900, 1.1) == "faster from n ≈ 3900 (at least 3200)");
  CHECK(text(1000, 4) == "faster from n ≈ 1000 (times vary)");
  CHECK(text(5000, 1.1) == "not faster within the measured range");
  CHECK(text(4200, 1.1) == "not decided: times vary by more than the difference");
  CHECK(text(250, 1.1) == "faster from n ≤ 300");
  CHECK(text(100, 1.1) == "faster at every n measured");
  CHECK(text(250, 5) == "not decided: times vary by more than the difference");
}

TEST_CASE("crossover: the last one counts, and equal times are not faster") {
  const Crossover found =
      crossover_of(Ratios{{256, 0.9}, {512, 2.0}, {1024, 2.0}, {2048, 0.5}, {4096, 0.1}});
  REQUIRE(found.kind == Crossover::Kind::at);
  CHECK(found.below == 1024);
  CHECK(found.n == doctest::Approx(std::sqrt(1024.0 * 2048.0)));  // half way in logarithms
  CHECK(to_text(found) == "faster from n ≈ 1400");
  const Crossover equal = crossover_of(Ratios{{256, 1.0}, {512, 0.5}});
  CHECK(equal.n == doctest::Approx(256));
  CHECK(crossover_of(Ratios{{256, 0.5}, {512, 1.0}}).kind == Crossover::Kind::never);
}

TEST_CASE("crossover: lengths at which exact was not measured are left out") {
  Sweep sweep = quadratic_against_linear(1e-6, 3e-3, 8192);  // at 3000
  CHECK(crossover_of(sweep, 1, SweepTime::total).above == 4096);
  sweep.series[0].points.resize(4);  // 256 to 2048
  CHECK(crossover_of(sweep, 1, SweepTime::total).kind == Crossover::Kind::never);
  CHECK_FALSE(ratio_to_exact(sweep, sweep.series[1].points.back(), SweepTime::total));
}

TEST_CASE("sweep: parameters that fit every length are kept, others are fitted and reported") {
  const Column hyper{.variant = "hyper", .values = defaults(find_variant("hyper").schema)};
  CHECK(fitted_values(hyper, 16384, 16384).values == hyper.values);
  CHECK(fitted_values(hyper, 16384, 8192).fitted.empty());
  // 4096 tokens would be computed exactly.
  CHECK(fitted_values(hyper, 16384, 2048).fitted == "min_length 256");
  CHECK(fitted_values(hyper, 16384, 256).fitted == "block 32, samples 32, min_length 32");
  // A person who wants exact gets it at every length.
  Column whole = hyper;
  set_value(find_variant("hyper").schema, whole.values, "block", "16384");
  CHECK(fitted_values(whole, 16384, 8192).fitted.empty());
  Column tree{.variant = "tc", .values = defaults(find_variant("tc").schema)};
  CHECK(fitted_values(tree, 1024, 128).fitted.empty());  // 64 leaves
  CHECK(fitted_values(tree, 1024, 64).fitted == "height 2");
  set_value(find_variant("tc").schema, tree.values, "alpha", "1,1,1,1,1,1,1");
  CHECK(fitted_values(tree, 1024, 64).fitted == "height 2, alpha default");
}

TEST_CASE("sweep: fitted parameters plan at every length") {
  for (const Variant& variant : variants())
    for (const Index own : {300, 4096, 20000})
      for (const Index n : {16, 64, 256}) {
        CAPTURE(variant.id);
        CAPTURE(n);
        const Column full{.variant = variant.id, .values = values_for_length(variant, own)};
        Profile profile;
        Run run{profile};
        Planning planning{*test::backends().front(), run, 0, {}};
        Problem problem = head(n);
        problem.causal = !variant.has_bidirectional_form();
        CHECK_NOTHROW(variant.plan(problem, fitted_values(full, own, n).values, planning));
      }
}

TEST_CASE("sweep: every point is a measurement of a prefix of the head") {
  const Problem whole = head(600);
  const std::vector<Column> columns{column("exact", 600), column("h1d", 600), column("h1d", 600),
                                    column("tf", 600)};
  Sweeper sweeper(whole, columns, {.seconds = 200, .slice_ms = 1, .samples = enough_samples});
  finish(sweeper);
  const Sweep& sweep = sweeper.sweep();
  CHECK(sweep.complete);
  REQUIRE(sweep.series.size() == 3);  // exact once, h1d once, tf
  CHECK(sweep.series[0].column.variant == "exact");
  for (const SweepSeries& series : sweep.series) {
    REQUIRE(series.points.size() == sweep.lengths.size());
    CHECK(series.refusals.empty());
    for (std::size_t l = 0; l < sweep.lengths.size(); ++l) {
      const SweepPoint& point = series.points[l];
      CHECK(point.n == sweep.lengths[l]);
      CHECK(point.total.samples == enough_samples);  // 200 s are ample: nothing stays with few runs
      CHECK_FALSE(point.few_samples());
      CHECK(point.apply.samples == point.total.samples);
      CHECK(point.total.median_ms > 0);
      CHECK(point.total.p10_ms <= point.total.median_ms);
      CHECK(point.total.median_ms <= point.total.p90_ms);
      CHECK(point.apply.median_ms <= point.total.median_ms);
      CHECK(point.bytes > 0);
      CHECK(point.error.has_value() == (&series != &sweep.series[0]));
    }
  }
  // The same error as that of a computation of the prefix alone.
  const Backend& backend = *test::backends().front();
  Profile profile;
  Run run{profile};
  const Index n = sweep.lengths[1];
  const auto z = [&](std::size_t s) {
    return compute(prefix_of(whole, n),
                   {.variant = &find_variant(sweep.series[s].column.variant),
                    .values = sweep.series[s].points[1].values,
                    .seed = sweep.series[s].column.seed},
                   backend, run)
        .output.z;
  };
  CHECK(*sweep.series[2].points[1].error == doctest::Approx(*output_rel_fro(z(2), z(0))));
  CHECK(*sweep.series[2].points[1].error > 0);
}

TEST_CASE("sweep: it grows by one point a step, and a stop leaves it as it was") {
  Sweeper sweeper(head(512), {column("strided", 512)}, {.seconds = 20, .slice_ms = 1});
  const Backend& backend = *test::backends().front();
  std::stop_source stop;
  stop.request_stop();
  Profile profile;
  Run stopped{profile, stop.get_token()}, run{profile};
  CHECK_THROWS_AS(sweeper.step(backend, stopped), Cancelled);
  CHECK(sweeper.sweep().series[0].points.empty());
  REQUIRE(sweeper.step(backend, run));  // exact first
  CHECK(sweeper.sweep().series[0].points.size() == 1);
  CHECK(sweeper.sweep().series[1].points.empty());
  REQUIRE(sweeper.step(backend, run));
  CHECK(sweeper.sweep().series[1].points.size() == 1);
  CHECK_FALSE(sweeper.sweep().complete);
  CHECK_THROWS_AS(sweeper.step(backend, stopped), Cancelled);
  CHECK(sweeper.sweep().series[0].points.size() == 1);
}

TEST_CASE("sweep: what the time allowed does not reach stays unmeasured") {
  Sweeper sweeper(head(8192), {column("tf", 8192)}, {.seconds = 0.05, .slice_ms = 1});
  finish(sweeper);
  const Sweep& sweep = sweeper.sweep();
  CHECK_FALSE(sweep.series[0].points.empty());
  CHECK(sweep.series[0].points.size() < sweep.lengths.size());
  CHECK(sweep.series[0].at(8192) == nullptr);
  Sweeper shorter(head(2048), {}, {.longest = 512, .seconds = 5, .slice_ms = 1});
  CHECK(shorter.sweep().lengths == std::vector<Index>{256, 512});
}

TEST_CASE("sweep: a variant that cannot be computed says why, and the others go on") {
  Column wrong = column("tc", 300);
  set_value(find_variant("tc").schema, wrong.values, "alpha", "1,2");  // of height 1
  set_value(find_variant("tc").schema, wrong.values, "height", "3");
  Sweeper sweeper(head(300), {wrong, column("fixed", 300)}, {.seconds = 5, .slice_ms = 1});
  finish(sweeper);
  const Sweep& sweep = sweeper.sweep();
  CHECK(sweep.series[1].points.empty());
  REQUIRE(sweep.series[1].refusals.size() == sweep.lengths.size());
  CHECK(sweep.series[1].refusals[0].second.find("alpha") != std::string::npos);
  CHECK(sweep.series[2].points.size() == sweep.lengths.size());
}

TEST_CASE("sweep: few runs and a slow machine are reported") {
  Sweep sweep = quadratic_against_linear(1e-6, 1e-3, 1024);
  SweepPoint& point = sweep.series[1].points[0];
  CHECK_FALSE(point.few_samples());
  CHECK_FALSE(throttled(sweep, point));
  point.total.samples = 4;
  point.pace_ms = 1.6;
  CHECK(point.few_samples());
  CHECK(throttled(sweep, point));
  CHECK(to_csv(sweep).find("few runs; slow machine") != std::string::npos);
}

TEST_CASE("sweep: as a table, a line a point and as many fields as headings") {
  const Sweep sweep = quadratic_against_linear(1e-6, 1e-3, 1024);
  std::istringstream table(to_csv(sweep));
  std::string line;
  std::vector<std::ptrdiff_t> commas;
  while (std::getline(table, line)) commas.push_back(std::ranges::count(line, ','));
  REQUIRE(commas.size() == 1 + 2 * sweep.lengths.size());
  CHECK(commas[0] == 18);
  CHECK(commas[1] == 18);  // exact has no parameters, and no error
  CHECK(to_csv(sweep).find("\"H-Transformer-1D\",\"block=16 structure=banded") !=
        std::string::npos);
}

TEST_CASE("sweep: columns of one variant are named by what differs") {
  Sweep sweep = quadratic_against_linear(1e-6, 1e-3, 1024);
  CHECK(label_of(sweep, 1) == "H-Transformer-1D");
  sweep.series.push_back(sweep.series[1]);
  set_value(find_variant("h1d").schema, sweep.series[2].column.values, "block", "32");
  CHECK(label_of(sweep, 1) == "H-Transformer-1D, block 16");
  CHECK(label_of(sweep, 2) == "H-Transformer-1D, block 32");
}
