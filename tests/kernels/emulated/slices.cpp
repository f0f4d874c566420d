// How query tiles are divided among launches, and which stages hold time of the host. No kernel is
// launched: the emulated device ends a launch when its event is waited for, and not before.
#include "tiles/slices.h"

#include <cuda_runtime.h>  // of the emulation
#include <doctest/doctest.h>

#include "bench/entry.h"
#include "device/head_start.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::cuda;

namespace {

/// Query tiles of 128 queries side by side: in each round `tiles` of them, with `keys` keys each.
QueryTileList tiles_of(Index rounds, Index tiles, std::int32_t keys) {
  QueryTileList list;
  list.runs.push_back({.begin = 0,
                       .end = keys,
                       .cols = -1,
                       .weight = -1,
                       .pair_weight = -1,
                       .lo = std::numeric_limits<std::int32_t>::min(),
                       .hi = std::numeric_limits<std::int32_t>::max()});
  for (Index round = 0; round < rounds; ++round) {
    list.rounds.push_back({round * tiles, (round + 1) * tiles});
    for (Index t = 0; t < tiles; ++t)
      list.tiles.push_back({.first_row = static_cast<std::int32_t>(128 * t),
                            .row_count = 128,
                            .rows = -1,
                            .first_run = 0,
                            .last_run = 1,
                            .keys = keys});
  }
  return list;
}

struct Work {
  std::vector<Index> launches;  // query tiles of each
  double late = 0, all = 0;
};

/// Divides them, with one more launch behind the slices if `more`.
Work divide(const QueryTileList& list, Precision precision, Index wave = 4, bool more = false,
            Index most_tiles = 0) {
  const HeadStart ahead(0.01);
  const Device device;
  Profile profile;
  Run run{profile};
  Timeline timeline(device);
  Work work;
  {
    auto stage = timeline.stage("attend");
    Slices slices(device, list, wave, run, stage, precision, most_tiles);
    for (QueryTileRange range = slices.next(); range.first < range.last; range = slices.next()) {
      pass_time(0.01, device.stream());
      work.launches.push_back(range.last - range.first);
    }
    if (more) pass_time(0.01, device.stream());
  }
  timeline.finish(profile);
  const bench::Times times = bench::times_of(profile);
  return {std::move(work.launches), times.late, times.kernels};
}

}  // namespace

TEST_CASE("slices: a launch has a few milliseconds of work for the kernel of its precision") {
  const QueryTileList causal = tiles_of(1, 1536, 8192);  // 12 heads of 16384 tokens: 1.6e9 pairs
  CHECK(divide(causal, Precision::fp32).launches.size() == 4);
  CHECK(divide(causal, Precision::fp32_split).launches.size() == 1);
  CHECK(divide(causal, Precision::bf16).launches.size() == 1);
  const QueryTileList long_head = tiles_of(1, 1024, 131072);  // 1.7e10 pairs
  CHECK(divide(long_head, Precision::fp32).launches.size() == 32);
  CHECK(divide(long_head, Precision::fp32_split).launches.size() == 11);
  CHECK(divide(long_head, Precision::bf16).launches.size() == 4);
}

TEST_CASE("slices: launches consist of whole waves, but for the last one of a round") {
  const QueryTileList list = tiles_of(2, 1024, 131072);
  using Sizes = std::vector<Index>;
  CHECK(divide(list, Precision::bf16, 132).launches == Sizes{396, 396, 232, 396, 396, 232});
  CHECK(divide(list, Precision::bf16, 396).launches == Sizes{396, 396, 232, 396, 396, 232});
  CHECK(divide(list, Precision::bf16, 600).launches == Sizes{600, 424, 600, 424});
  CHECK(divide(tiles_of(1, 1000, 131072), Precision::bf16, 132, false, 132).launches ==
        Sizes{132, 132, 132, 132, 132, 132, 132, 76});
}

TEST_CASE("slices: the parts of a query tile are in one launch, which they may fill up") {
  QueryTileList list = tiles_of(1, 100, 131072);
  for (std::int32_t part = 0; part < 100; part += 10)
    list.divided.push_back({.whole = {}, .first = part, .parts = 10});
  using Sizes = std::vector<Index>;
  CHECK(divide(list, Precision::fp32, 32).launches == Sizes{30, 30, 30, 10});
  CHECK(divide(list, Precision::fp32, 4).launches == Sizes{30, 30, 30, 10});
  CHECK(divide(list, Precision::fp32, 4, false, 6).launches == Sizes(10, 10));
}

TEST_CASE("slices: what is launched while the launch before it runs holds no time of the host") {
  for (const Precision precision : {Precision::fp32, Precision::fp32_split, Precision::bf16}) {
    const Work work = divide(tiles_of(1, 1024, 131072), precision, 4, true);
    CHECK(work.all > 0);
    CHECK(work.late == 0);
  }
  // A wave has more work than a launch needs.
  CHECK(divide(tiles_of(1, 1024, 131072), Precision::fp32, 264, true).late == 0);
}

TEST_CASE("slices: the host does not wait for short launches, of which each round has one") {
  const Work work = divide(tiles_of(12, 8, 64), Precision::fp32);
  CHECK(work.launches.size() == 12);
  CHECK(work.late == 0);
}

TEST_CASE("timeline: a stage is late where the device had nothing to do before all was launched") {
  const HeadStart ahead(0.01);
  const Device device;
  const auto late = [&](bool parts, bool wait) {
    Profile profile;
    Timeline timeline(device);
    {
      auto stage = timeline.stage("attend");
      pass_time(0.01, device.stream());
      if (parts) stage.end_part();
      if (wait) device.wait();
      pass_time(0.01, device.stream());
      if (parts) stage.end_part();
    }
    timeline.finish(profile);
    return bench::times_of(profile).late;
  };
  for (const bool parts : {false, true}) {
    CHECK(late(parts, false) == 0);
    CHECK(late(parts, true) > 0);
  }
}

TEST_CASE("timeline: kernels hold no time of the host where numbers are split, either") {
  const Problem problem = test::make_data(test::Data::gaussian, 64, 8, 8, false);
  for (const std::string precision : {"fp32", "fp32-split", "bf16"}) {
    const auto backend = make_cuda_backend({.precision = precision}, nullptr);
    const test::Instance exact = test::make_instance(*backend, problem, "exact", {});
    const HeadStart ahead(0.01);
    Profile profile;
    Run run{profile};
    exact.bound->apply(problem.v, run);
    CHECK(bench::times_of(profile).kernels > 0);
    CHECK_MESSAGE(bench::times_of(profile).late == 0, precision);
  }
}

TEST_CASE("timeline: stages that move data are no time of kernels, late or not") {
  Profile profile;
  for (const char* name : {"upload", "late: upload", "attend", "download", "late: download"})
    profile.add(name, 1);
  const bench::Times times = bench::times_of(profile);
  CHECK(times.kernels == 1);
  CHECK(times.late == 0);
  CHECK(times.stages.size() == 3);
  profile.add("late: attend", 1);
  CHECK(bench::times_of(profile).late == 1);
}
