// A long computation band by band against the whole at once.
#include "engine/gradual_output.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/panel.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("gradual output: all bands together are the whole computation and its maps") {
  const Index n = 2500;  // pixels of 4
  for (const bool causal : {false, true}) {
    const auto backend = make_cpu_backend({.threads = 2});
    const Problem problem = make_data(Data::gaussian, n, 20, 17, causal);
    Profile profile;
    Run run{profile};
    const ComputeRequest request{.variant = &find_variant("exact"), .repeats = 0};
    const auto prepared =
        std::make_shared<const Computation>(prepare(problem, request, *backend, run));
    CHECK_FALSE(prepared->applied());
    ViewSettings settings;
    settings.pool = Pool::Kind::max;
    const auto most = make_map(View::heatmap, *prepared, *prepared, settings);
    settings.pool = Pool::Kind::mean;
    const auto mean = make_map(View::heatmap, *prepared, *prepared, settings);
    GradualOutput gradual(prepared, most, mean);
    int bands = 1;
    while (gradual.advance(2000, 5, run)) ++bands;
    CHECK(bands > 3);
    CHECK(gradual.share() == 1);
    const Computation whole = compute(problem, request, *backend, run);
    const Computation parts = gradual.finish();
    CHECK(parts.applied());
    CHECK(parts.timing.apply_total.median_ms > 0);
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
            worst =
                std::max(worst, std::abs(double(picture.values(r, c)) / double(direct(r, c)) - 1));
      // Logits of up to 30 log2 units, of which each way rounds one: 30 ulps of exp2's argument.
      CHECK(worst <= 64 * 0x1p-24);
    }
  }
}

TEST_CASE("gradual output: finds every row of Z though its maps are known already") {
  const Index n = 1500;
  const auto backend = make_cpu_backend({.threads = 2});
  const Problem problem = make_data(Data::gaussian, n, 16, 5, false);
  Profile profile;
  Run run{profile};
  const ComputeRequest request{.variant = &find_variant("exact"), .repeats = 0};
  const auto prepared =
      std::make_shared<const Computation>(prepare(problem, request, *backend, run));
  ViewSettings settings;
  settings.pool = Pool::Kind::max;
  const auto most = make_map(View::heatmap, *prepared, *prepared, settings);
  settings.pool = Pool::Kind::mean;
  const auto mean = make_map(View::heatmap, *prepared, *prepared, settings);
  GradualOutput before(prepared, most, mean);  // left half way, as by another head and back
  REQUIRE(before.advance(700, 0.1, run));
  REQUIRE(before.advance(700, 0.1, run));
  most->fill({0, 3}, run);
  GradualOutput gradual(prepared, most, mean);
  CHECK(gradual.share() == 0);
  while (gradual.advance(0, 5, run)) {
  }
  const Computation whole = compute(problem, request, *backend, run);
  const Computation parts = gradual.finish();
  CHECK(parts.output.lse == whole.output.lse);
  Index other = 0;
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < 5; ++c) other += parts.output.z(i, c) != whole.output.z(i, c);
  CHECK(other == 0);
}

TEST_CASE("gradual output: the time of a band that was stopped does not count") {
  const auto backend = make_cpu_backend({.threads = 1});
  const Problem problem = make_data(Data::gaussian, 1500, 16, 16, false);
  Profile profile;
  Run run{profile};
  const ComputeRequest request{.variant = &find_variant("exact"), .repeats = 0};
  const auto prepared =
      std::make_shared<const Computation>(prepare(problem, request, *backend, run));
  const auto most = make_map(View::heatmap, *prepared, *prepared, {});
  GradualOutput gradual(prepared, most, most);
  std::stop_source stop;
  stop.request_stop();
  Run stopped{profile, stop.get_token()};
  CHECK_THROWS_AS(gradual.advance(0, 5, stopped), Cancelled);
  CHECK(gradual.share() == 0);
  CHECK(gradual.finish().timing.apply_total.median_ms == 0);
}
