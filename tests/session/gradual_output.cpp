// A long computation band by band against the whole at once.
#include "session/gradual_output.h"

#include <doctest/doctest.h>

#include <cmath>

#include "backend/backends.h"
#include "harness.h"
#include "panels/panel.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Exact attention before its output, and its maps.
struct Prepared {
  Problem problem;
  std::unique_ptr<Backend> backend;
  Profile profile;
  Run run{profile};
  ComputeRequest request{.variant = &find_variant("exact")};
  std::shared_ptr<const Computation> computation;
  std::shared_ptr<MapPyramid> most, mean;

  Prepared(Problem its, int threads)
      : problem(std::move(its)), backend(make_cpu_backend({.threads = threads})) {
    computation = std::make_shared<const Computation>(prepare(problem, request, *backend, run));
    ViewSettings settings;
    settings.pool = Pool::Kind::max;
    most = make_map(find_view("heatmap"), *computation, *computation, settings);
    settings.pool = Pool::Kind::mean;
    mean = make_map(find_view("heatmap"), *computation, *computation, settings);
  }
};

}  // namespace

TEST_CASE("gradual output: all bands together are the whole computation and its maps") {
  const Index n = 2500;  // pixels of 4
  for (const bool causal : {false, true}) {
    Prepared exact(make_data(Data::gaussian, n, 20, 17, causal), 2);
    auto& [problem, backend, profile, run, request, prepared, most, mean] = exact;
    CHECK_FALSE(prepared->applied());
    GradualOutput gradual(prepared, most, mean);
    int bands = 1;
    while (gradual.advance(2000, 5, run)) ++bands;
    CHECK(bands > 3);
    CHECK(gradual.share() == 1);
    const Computation whole = compute(problem, request, *backend, run);
    const auto finished = gradual.finish();
    CHECK(gradual.finish() == finished);
    const Computation& parts = *finished;
    CHECK(parts.applied());
    CHECK(parts.first_run.apply.total_ms() > 0);
    bool same = parts.output.lse == whole.output.lse;
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < 17; ++c) same = same && parts.output.z(i, c) == whole.output.z(i, c);
    CHECK(same);
    for (const auto& map : {most, mean}) {
      const MapView view = map_view({0, n}, {0, n}, 1024);
      const MapPicture picture = map->picture(view);
      CHECK(picture.complete);
      const Matrix direct = whole.op->tile({0, n}, {0, n}, {map->kind(), n / 4, n / 4}, run);
      double worst = 0;
      for (Index r = 0; r < n / 4; ++r)
        for (Index c = 0; c < n / 4; ++c)
          if (direct(r, c) > 0)
            worst = larger_error(worst,
                                 std::abs(double(picture.values(r, c)) / double(direct(r, c)) - 1));
      // Logits of up to 30 log2 units, of which each way rounds one: 30 ulps of exp2's argument.
      CHECK(worst <= 64 * 0x1p-24);
    }
  }
}

TEST_CASE("gradual output: finds every row of Z though its maps are known already") {
  const Index n = 1500;
  Prepared exact(make_data(Data::gaussian, n, 16, 5, false), 2);
  auto& [problem, backend, profile, run, request, prepared, most, mean] = exact;
  GradualOutput before(prepared, most, mean);  // left half way, as by another head and back
  REQUIRE(before.advance(700, 0.1, run));
  REQUIRE(before.advance(700, 0.1, run));
  most->fill({0, 3}, run);
  GradualOutput gradual(prepared, most, mean);
  CHECK(gradual.share() == 0);
  while (gradual.advance(0, 5, run)) {
  }
  const Computation whole = compute(problem, request, *backend, run);
  const Computation parts = *gradual.finish();
  CHECK(parts.output.lse == whole.output.lse);
  Index other = 0;
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < 5; ++c) other += parts.output.z(i, c) != whole.output.z(i, c);
  CHECK(other == 0);
}

TEST_CASE("gradual output: the time of a band that was stopped does not count") {
  Prepared exact(make_data(Data::gaussian, 1500, 16, 16, false), 1);
  GradualOutput gradual(exact.computation, exact.most, exact.mean);
  std::stop_source stop;
  stop.request_stop();
  Run stopped{exact.profile, stop.get_token()};
  CHECK_THROWS_AS(gradual.advance(0, 5, stopped), Cancelled);
  CHECK(gradual.share() == 0);
  CHECK(gradual.finish()->first_run.apply.total_ms() == 0);
}

TEST_CASE("gradual output: a head without values has its row sums and maps band by band") {
  const Index n = 2500;
  const Problem with_values = make_data(Data::gaussian, n, 20, 17, false);
  Prepared exact(
      make_problem(Matrix::copy_of(with_values.q), Matrix::copy_of(with_values.k), Matrix(n, 0)),
      2);
  GradualOutput gradual(exact.computation, exact.most, exact.mean);
  while (gradual.advance(0, 5, exact.run)) {
  }
  const Computation parts = *gradual.finish();
  CHECK(parts.applied());
  CHECK(parts.output.z.rows() == n);
  CHECK(parts.output.z.cols() == 0);
  CHECK(parts.output.lse ==
        compute(exact.problem, exact.request, *exact.backend, exact.run).output.lse);
  CHECK(exact.most->picture(map_view({0, n}, {0, n}, 1024)).complete);
}

TEST_CASE("gradual output: maps of logits of 16-bit factors say so, and zoomed views do not") {
  const Index n = 1100;  // pixels of 2
  for (const char* precision : {"fp32", "fp32-split", "bf16", "fp16"}) {
    CAPTURE(precision);
    Prepared exact(make_data(Data::gaussian, n, 8, 3, true), 2);
    Computation its = *exact.computation;
    its.precision = precision;
    GradualOutput gradual(std::make_shared<const Computation>(its), exact.most, exact.mean);
    while (gradual.advance(0, 1000, exact.run)) {
    }
    const bool rounded = std::string(precision).ends_with("16");
    const MapView whole = map_view({0, n}, {0, n}, 1024),
                  zoomed = map_view({0, 100}, {0, 100}, 100);
    for (const auto& map : {exact.most, exact.mean}) {
      CHECK(map->picture(whole).rounded == rounded);
      CHECK(map->picture(zoomed).rounded == rounded);  // the overview, until there is more
      while (map->refine(zoomed, exact.run)) {
      }
      CHECK_FALSE(map->picture(zoomed).rounded);
    }
  }
}
