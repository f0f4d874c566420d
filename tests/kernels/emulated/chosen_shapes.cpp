// How high query tiles are and into how many parts their keys are divided, by the number of
// multiprocessors, which the emulated device can be told.
#include <doctest/doctest.h>

#include <algorithm>
#include <queue>
#include <random>
#include <vector>

#include "data/lengths.h"
#include "kernels/hopper.h"
#include "tiles/divided_query_tiles.h"
#include "tiles/resident_query_tiles.h"

using namespace fovea;
using namespace fovea::cuda;
using namespace fovea::test;

namespace {

QueryTileShape shape_of(Lengths lengths, bool causal, Index d, Precision precision,
                        int multiprocessors, bool warpgroups = false, bool maps = false) {
  const Multiprocessors many(multiprocessors);
  const Device device;
  return choose_shape(
      [&](int height) {
        std::vector<EqualQueryTiles> keys;
        for (Index first = 0; first < lengths.queries; first += height)
          keys.push_back({static_cast<std::int32_t>(causal ? std::min(lengths.keys, first + height)
                                                           : lengths.keys),
                          1});
        return keys;
      },
      {d, d, precision, warpgroups, maps}, device);
}

/// Each block begins when the first of the blocks that run ends.
Index end_of_queue(const std::vector<EqualBlocks>& blocks, Index at_once) {
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ends;
  for (Index place = 0; place < at_once; ++place) ends.push(0);
  Index last = 0;
  for (const auto& [time, count] : blocks)
    for (std::int32_t block = 0; block < count; ++block) {
      const Index end = ends.top() + time;
      ends.pop();
      ends.push(end);
      last = std::max(last, end);
    }
  return last;
}

}  // namespace

TEST_CASE("query tiles: a device is done when its last block ends") {
  CHECK(makespan({}, 3) == 0);
  CHECK(makespan({{5, 1}}, 3) == 5);
  CHECK(makespan({{1, 1}, {2, 1}, {3, 1}}, 3) == 3);
  CHECK(makespan({{4, 1}, {1, 4}}, 2) == 4);
  CHECK(makespan({{1, 4}, {4, 1}}, 2) == 6);  // the long one begins last
  CHECK(makespan({{2, 3}}, 2) == 4);
}

TEST_CASE("query tiles: the device is done when a queue of its blocks ends") {
  std::mt19937 random(1);
  const auto up_to = [&](std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(1, most)(random);
  };
  for (int list = 0; list < 300; ++list) {
    std::vector<EqualBlocks> blocks(static_cast<std::size_t>(up_to(60)));
    const std::int32_t longest = up_to(300), most = up_to(40);
    for (EqualBlocks& each : blocks) each = {up_to(longest), up_to(most)};
    const Index at_once = up_to(200);
    CAPTURE(at_once);
    CHECK(makespan(blocks, at_once) == end_of_queue(blocks, at_once));
  }
}

TEST_CASE("query tiles: tall where there are many queries and low where there are few") {
  const auto fp32 = [](Index queries, Index keys) {
    return shape_of({queries, keys}, false, 64, Precision::fp32, 132);
  };
  CHECK(fp32(131072, 131072).height == 128);
  CHECK(fp32(131072, 131072).most_keys >= 131072);
  CHECK(fp32(131072, 96).height == 128);
  CHECK(fp32(10000, 96).height == 64);
  CHECK(fp32(500, 96).height == 16);
  // One head of 16384 tokens makes 128 tall query tiles, which leave half of the device idle.
  CHECK(fp32(16384, 16384).height == 128);
  CHECK(fp32(16384, 16384).most_keys == 8192);
  CHECK(fp32(16, 131072).most_keys == 4096);  // 32 parts
  CHECK(fp32(16, 256).most_keys >= 256);      // parts have at least 256 keys
  const QueryTileShape causal = shape_of({16384, 16384}, true, 64, Precision::fp32, 132);
  CHECK(causal.height == 128);
  CHECK(causal.most_keys < 16384);
  CHECK(shape_of({131072, 131072}, false, 64, Precision::bf16, 132).height == 128);
  CHECK(shape_of({16384, 16384}, false, 64, Precision::bf16, 132).most_keys == 8192);
  // Blocks of 8 warps, of which one keeps a multiprocessor busy.
  CHECK(shape_of({16384, 16384}, false, 128, Precision::bf16, 132).most_keys >= 16384);
  CHECK(shape_of({4096, 4096}, false, 64, Precision::bf16, 132).most_keys < 4096);
  CHECK(shape_of({131072, 131072}, false, 128, Precision::fp32, 132).height ==
        64);  // of 128 values
  // By warpgroups 192 queries of narrow heads, where no maps are made of them.
  const auto by_warpgroups = [](Index n, Index d, bool maps) {
    return shape_of({n, n}, false, d, Precision::bf16, 132, true, maps);
  };
  CHECK(by_warpgroups(131072, 64, false).height == 192);
  CHECK(by_warpgroups(131072, 64, true).height == 64);
  CHECK(by_warpgroups(131072, 128, false).height == 128);
  // Gathering takes as long for few queries as for many: buckets of 256 queries and 512 keys.
  for (const bool gathers : {false, true}) {
    const Multiprocessors many(132);
    const Device device;
    const QueryTileShape shape = choose_shape(
        [](int height) {
          return std::vector{EqualQueryTiles{512, 768 * ((256 + height - 1) / height)}};
        },
        {64, 64, Precision::bf16, true, false, gathers}, device);
    CHECK(shape.height == (gathers ? 128 : 64));
  }
  // By warpgroups the parts of a query tile are whole KV tiles of 128 keys.
  const QueryTileShape wide = shape_of({2048, 16384}, false, 64, Precision::bf16, 132, true);
  CHECK(wide.most_keys < 16384);
  CHECK(wide.keys_per_kv_tile == 128);
  CHECK(wide.most_keys % 128 == 0);
}
