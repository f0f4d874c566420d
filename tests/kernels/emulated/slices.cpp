// How query tiles are divided among launches, and which stages hold time of the host. No kernel is
// launched: the emulated device ends a launch when its event is waited for, and not before.
#include "tiles/slices.h"

#include <cuda_runtime.h>  // of the emulation
#include <doctest/doctest.h>

#include "backend/backends.h"
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

struct Division {
  Precision precision = Precision::fp32;
  Index wave = 4;
  double pairs_per_ms = 1e8;  // of the device
  Index most_tiles = 0;
  bool more = false;  // one more launch behind the slices
};

Work divide(const Device& device, const QueryTileList& list, const Division& how) {
  emulation::PretendedTime time;
  const HeadStart ahead(0.01);
  Profile profile;
  Run run{profile};
  Timeline timeline(device);
  Work work;
  {
    auto stage = timeline.stage("attend");
    Slices slices(device, list, how.wave, run, stage, how.precision, 128, how.most_tiles);
    for (QueryTileRange range = slices.next(); range.first < range.last; range = slices.next()) {
      double pairs = 0;
      for (Index t = range.first; t < range.last; ++t)
        pairs += 128.0 * static_cast<double>(list.tiles[t].keys);
      time.pass(device.stream(), pairs / how.pairs_per_ms);
      work.launches.push_back(range.last - range.first);
    }
    if (how.more) time.pass(device.stream(), 1);
  }
  timeline.finish(profile);
  const bench::Times times = bench::times_of(profile);
  return {std::move(work.launches), times.late, times.kernels};
}

using LaunchSizes = std::vector<Index>;

/// `times` launches of `size` query tiles between others.
LaunchSizes launch_sizes(LaunchSizes before, std::size_t times, Index size,
                         const LaunchSizes& after) {
  before.insert(before.end(), times, size);
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

}  // namespace

// A query tile of 131072 keys has 1.7e7 pairs.
TEST_CASE("slices: after two short launches each has as much work as the device does in 8 ms") {
  const QueryTileList list = tiles_of(1, 1024, 131072);
  const Device device;
  CHECK(divide(device, list, {}).launches == launch_sizes({4, 4}, 21, 48, {8}));
  CHECK(divide(device, list, {}).launches == launch_sizes({}, 21, 48, {16}));  // known from before
  // In other precisions the device has a pace of its own.
  CHECK(divide(device, list, {.precision = Precision::bf16, .pairs_per_ms = 2e9}).launches ==
        LaunchSizes{12, 12, 956, 44});
  CHECK(divide(device, list, {}).launches.front() == 48);
}

TEST_CASE("slices: on a slow device a launch has one wave") {
  const Device device;
  CHECK(divide(device, tiles_of(1, 1024, 131072), {.pairs_per_ms = 1e6}).launches ==
        LaunchSizes(256, 4));
}

TEST_CASE("slices: launches become shorter where the device becomes slower, and longer again") {
  const QueryTileList list = tiles_of(1, 1024, 131072);
  const Device device;
  CHECK(divide(device, list, {}).launches.back() == 8);
  const LaunchSizes slower = divide(device, list, {.pairs_per_ms = 1e7}).launches;
  CHECK(slower.front() == 48);
  CHECK(slower[2] == 8);
  const LaunchSizes faster = divide(device, list, {}).launches;
  CHECK(faster.front() == 8);
  CHECK(faster[2] == 48);
}

TEST_CASE("slices: launches consist of whole waves, but for the last one of a round") {
  const auto launches = [](Index wave, Index tiles, Index most_tiles = 0) {
    const Device device;
    device.pace().note(Precision::bf16, 5e9, 8);
    return divide(device, tiles_of(2, tiles, 131072),
                  {.precision = Precision::bf16,
                   .wave = wave,
                   .pairs_per_ms = 5e9 / 8,
                   .most_tiles = most_tiles})
        .launches;
  };
  CHECK(launches(132, 1024) == LaunchSizes{396, 396, 232, 396, 396, 232});
  CHECK(launches(396, 1024) == LaunchSizes{396, 396, 232, 396, 396, 232});
  CHECK(launches(600, 1024) == LaunchSizes{600, 424, 600, 424});
  CHECK(launches(132, 300, 132) == LaunchSizes{132, 132, 36, 132, 132, 36});
}

TEST_CASE("slices: the parts of a query tile are in one launch, which they may fill up") {
  QueryTileList list = tiles_of(1, 100, 131072);
  for (std::int32_t part = 0; part < 100; part += 10)
    list.divided.push_back({.whole = {}, .first = part, .parts = 10});
  const auto launches = [&](Index wave, Index most_tiles = 0) {
    const Device device;
    device.pace().note(Precision::fp32, 5e8, 8);
    return divide(device, list, {.wave = wave, .pairs_per_ms = 5e8 / 8, .most_tiles = most_tiles})
        .launches;
  };
  CHECK(launches(32) == LaunchSizes{30, 30, 30, 10});
  CHECK(launches(4) == LaunchSizes{30, 30, 30, 10});
  CHECK(launches(4, 6) == LaunchSizes(10, 10));
}

TEST_CASE("slices: what is launched while the launch before it runs holds no time of the host") {
  for (const Index wave : {4, 264})  // 264: more work than a launch needs
    for (const double pairs_per_ms : {1e6, 1e8, 1e10}) {
      const Device device;
      const Work work = divide(device, tiles_of(1, 1024, 131072),
                               {.wave = wave, .pairs_per_ms = pairs_per_ms, .more = true});
      CHECK(work.all > 0);
      CHECK(work.late == 0);
    }
}

TEST_CASE("pace: a short launch tells what a device does in a millisecond at least") {
  Pace pace;
  pace.note(Precision::fp32, 1e9, 10);
  pace.note(Precision::fp32, 1e3, 0.01);
  CHECK(pace.pairs_in(1, Precision::fp32) == 1e8);
  pace.note(Precision::fp32, 2e8, 0.5);
  CHECK(pace.pairs_in(1, Precision::fp32) == 4e8);
  pace.note(Precision::fp32, 2e8, 2);
  CHECK(pace.pairs_in(1, Precision::fp32) == 1e8);
  pace.note(Precision::fp32, 0, 0);
  CHECK(pace.pairs_in(1, Precision::fp32) == 1e8);
}

TEST_CASE("slices: the host does not wait for short launches, of which each round has one") {
  const Device device;
  const Work work = divide(device, tiles_of(12, 8, 64), {});
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
