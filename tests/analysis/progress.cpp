// Progress: a piece of work moves it through its own part of the whole and through nothing else.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "analysis/error_map.h"
#include "analysis/metrics.h"
#include "analysis/rank_map.h"
#include "analysis/spectrum.h"
#include "cases.h"
#include "evaluate/computation.h"
#include "harness.h"
#include "panels/scene.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const Backend& backend() {
  return *backends().back();
}

/// Runs `work` as the part [.25, .5) of a whole; returns where the progress is afterwards.
double end_of_part(const std::function<void(Run&)>& work) {
  Profile profile;
  Progress progress;
  Run whole{profile, {}, &progress};
  Run part = whole.part(0.25, 0.5);
  work(part);
  return progress.fraction;
}

/// All values that a second thread sees while `work` runs, without repetitions.
std::vector<double> values_during(const std::function<void(Run&)>& work) {
  Profile profile;
  Progress progress;
  Run run{profile, {}, &progress};
  std::vector<double> seen{0};
  std::atomic<bool> done = false;
  std::thread watcher([&] {
    while (!done)
      if (const double now = progress.fraction; now != seen.back()) seen.push_back(now);
  });
  work(run);
  done = true;
  watcher.join();
  seen.push_back(progress.fraction);
  return seen;
}

}  // namespace

TEST_CASE("every operation of an operator ends at the end of its part of the progress") {
  const Problem problem = make_data(Data::gaussian, 96, 8, 8, false);
  const Instance exact = make_instance(backend(), problem, "exact", {});
  for (const Case& c : small_cases()) {
    CAPTURE(c.id);
    const auto fresh = [&] { return make_instance(backend(), problem, c.id, c.settings); };
    CHECK(end_of_part([&](Run& run) { fresh().bound->apply(problem.v, run); }) == 0.5);
    for (const Pool pool : {Pool{}, Pool{Pool::Kind::max, 8, 8}, Pool{Pool::Kind::mean, 8, 8},
                            Pool{Pool::Kind::mean, 8, 8, 5}})
      CHECK(end_of_part([&](Run& run) {
              fresh().bound->tile({0, 96}, {0, 96}, pool, run);
            }) == 0.5);
    const Instance one = fresh();
    CHECK(end_of_part([&](Run& run) {
            error_pixels(*one.bound, *exact.bound, Difference::absolute, {0, 96}, {0, 96},
                         {Pool::Kind::mean, 8, 8}, run);
          }) == 0.5);
    const Output approximate_z = one.apply(problem.v), exact_z = exact.apply(problem.v);
    CHECK(end_of_part([&](Run& run) {
            compare(*one.bound, approximate_z, *exact.bound, exact_z, run);
          }) == 0.5);
    CHECK(end_of_part([&](Run& run) { operator_norm(*one.bound, run); }) == 0.5);
    if (one.bound->has_rows())
      CHECK(end_of_part([&](Run& run) {
              one.bound->apply_rows(problem.v, {32, 64}, 8, run);
            }) == 0.5);
  }
}

TEST_CASE("a rank map ends at the end of its part of the progress") {
  const Instance exact =
      make_instance(backend(), make_data(Data::gaussian, 96, 8, 8, false), "exact", {});
  const Entries entries = [&](IndexRange rows, IndexRange cols) { return exact.tile(rows, cols); };
  for (const Partition partition : {Partition::hierarchy, Partition::uniform})
    CHECK(end_of_part([&](Run& run) {
            map_ranks({96, 96}, entries, {.leaf = 16, .partition = partition}, backend(), run);
          }) == doctest::Approx(0.5));
}

TEST_CASE("progress rises over a whole computation and ends at 1") {
  Problem problem = make_data(Data::gaussian, 3000, 32, 32, false);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    problem.causal = !variant.has_bidirectional_form();
    const ComputeRequest request{.variant = &variant, .values = values_of(variant, {})};
    const std::vector<double> seen =
        values_during([&](Run& run) { compute(problem, request, backend(), run); });
    CHECK(std::ranges::is_sorted(seen));
    CHECK(seen.back() == doctest::Approx(1));
  }
}

TEST_CASE("a tile whose softmax sums are not known yet shares its progress with them") {
  constexpr Index n = 8000;  // long enough for the other thread to see all of it on a busy machine
  const Instance exact =
      make_instance(*backends().front(), make_data(Data::gaussian, n, 32, 1, false), "exact", {});
  const std::vector<double> seen = values_during([&](Run& run) {
    exact.bound->tile({0, n}, {0, n}, {Pool::Kind::mean, 100, 100}, run);
  });
  CHECK(std::ranges::is_sorted(seen));
  // Half of the pairs are evaluated for the sums, so the entries begin near .5.
  CHECK(std::ranges::any_of(seen, [](double p) { return 0.5 < p && p < 1; }));
  CHECK(std::ranges::any_of(seen, [](double p) { return 0 < p && p < 0.5; }));
}

TEST_CASE("progress rises while a panel is made from several rectangles") {
  const Problem problem = make_data(Data::gaussian, 2000, 32, 32, false);
  Scene scene(problem, "h1d", {});
  scene.settings.norm = Norm::row_max;
  const std::vector<double> seen = values_during([&](Run& run) {
    make_panel(find_view("heatmap"),
               {.computation = scene.computation,
                .exact = scene.exact,
                .backend = backend(),
                .sequence = scene.sequence,
                .settings = scene.settings,
                .rows = {0, 2000},
                .cols = {0, 2000}},
               run);
  });
  CHECK(std::ranges::is_sorted(seen));
  CHECK(seen.back() == doctest::Approx(1));
}
