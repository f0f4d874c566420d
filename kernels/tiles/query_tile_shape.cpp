#include "tiles/query_tile_shape.h"

#include <algorithm>

#include "device/wgmma.h"
#include "tiles/attend.h"
#include "tiles/attend_mma.h"
#include "tiles/attend_wgmma.h"

namespace fovea::cuda {
namespace {

// The model of a device. `clocks`: those of a multiprocessor that one block needs for 64 keys and
// one column of K or V where `together` blocks share it. A block alone takes clocks * together,
// since nothing hides its latencies. `resident`: blocks that a multiprocessor has registers for.
struct BlockCost {
  double clocks;
  int together, resident;
  int kv_tiles_of_part = 1;  // KV tiles that could be done while one more part starts and is joined
};

// Counted from the kernels' instructions, and not measured yet: what reads shared memory takes
// most.
BlockCost block_cost(int height, bool narrow, Precision precision) {
  constexpr int warps = 8;  // that keep a multiprocessor busy: two for each scheduler
  const double groups = height / 16;
  // Each of 4 warps reads 16 bytes a thread, in 4 clocks, for each of 8 keys and of its queries,
  // and has 4 columns of them.
  if (precision == Precision::fp32)
    return {4 * (8 + groups), warps / 4, height == 16 ? 4 : height == 64 && narrow ? 3 : 2};
  // Each warp reads 64 values for every column, in a clock, and the copies write them in another.
  const bool split = precision == Precision::fp32_split;
  const double parts = split ? 2 : 1, products = split ? 3 : 1;
  const double own_warps = height == 128 && narrow && !split ? 4 : groups,
               shared = parts * (own_warps + 1);
  // 405 clocks for 16 queries and 128 columns on a quarter.
  const double tensor = products * 0.8 * groups;
  const double copies = parts * 5.3;  // 128 bytes, of which the cache has 24 in a clock: assumed
  const bool low = narrow && !split && height < 128;  // half as many registers
  return {std::max({shared, tensor, copies}), static_cast<int>(warps / own_warps),
          static_cast<int>((low ? 2 * warps : warps) / own_warps)};
}

// The same of attend_wgmma, measured on an H200 with 12 heads of 16384 tokens: with 64, 128 and 192
// queries of narrow heads 1090, 2340 and 2570 clocks for a KV tile of 128 keys, with 64 and 128
// queries of wide ones 2440 and 2760.
//
// Counted: to gather K and V of a KV tile a block issues 24 instructions for each 16 bytes of 32
// threads, 384 clocks of its four schedulers for narrow heads and twice as many for wide ones.
BlockCost wgmma_cost(int height, bool narrow, bool gathers) {
  constexpr int part =
      12;  // a block takes 14,000 clocks beside its KV tiles, of 192 queries 19,000
  const double gathering = gathers ? 1.5 : 0;
  if (!narrow) return {gathering + (height == 64 ? 4.8 : 5.4), 1, 1, part};
  if (height == 64) return {gathering + 4.3, 2, 2, part};
  return {gathering + (height == 128 ? 9.1 : 10.0), 1, 1, part};
}

// Times, in those of a KV tile.
constexpr int kv_tiles_to_start = 3;  // for Q and Z, which are read and written once
constexpr Index least_kv_tiles = 4;   // of a part

template <class Count>
Count divided_up(Count count, Count by) {
  return (count + by - 1) / by;
}

// The blocks of query tiles, which have at most `most_keys` keys each.
std::vector<EqualBlocks> blocks_of(const std::vector<EqualQueryTiles>& tiles, Index most_keys,
                                   int keys_per_kv_tile, int kv_tiles_of_part) {
  // 32 bits are divided in less time than 64.
  const auto most = static_cast<std::int32_t>(
      std::min<Index>(most_keys, std::numeric_limits<std::int32_t>::max()));
  const int kv_tiles = keys_per_kv_tile / kv_tile_keys;
  std::vector<EqualBlocks> blocks;
  blocks.reserve(tiles.size());
  for (const auto& [keys, count] : tiles) {
    const std::int32_t parts = keys > most ? (keys - 1) / most + 1 : 1,
                       its = parts > 1 ? divided_up(keys, parts) : keys;
    const std::int32_t time = divided_up(its, keys_per_kv_tile) * kv_tiles + kv_tiles_to_start;
    blocks.push_back({parts > 1 ? time + kv_tiles_of_part : time, parts * count});
  }
  return blocks;
}

struct Candidate {
  QueryTileShape shape;
  double time;
};

// The best one of a height.
Candidate best_division(const std::vector<EqualQueryTiles>& tiles, int height,
                        Index keys_per_kv_tile, int kv_tiles_of_part, Index at_once) {
  Index count = 0, longest = 0, all = 0;
  for (const EqualQueryTiles& each : tiles) {
    count += each.count;
    longest = std::max<Index>(longest, each.keys);
    all += Index{each.keys} * each.count;
  }
  const auto time = [&](Index most_keys) {
    const auto blocks =
        blocks_of(tiles, most_keys, static_cast<int>(keys_per_kv_tile), kv_tiles_of_part);
    return static_cast<double>(makespan(blocks, at_once));
  };
  Candidate best{{.height = height, .keys_per_kv_tile = keys_per_kv_tile}, 0};
  best.time = time(best.shape.most_keys);
  // Blocks of equal length that fill the device many times over are not to be divided.
  if (count > 8 * at_once && longest <= all / at_once) return best;
  for (const Index parts : {2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    // Whole KV tiles.
    const Index most = divided_up(divided_up(longest, parts), keys_per_kv_tile) * keys_per_kv_tile;
    if (most < least_kv_tiles * kv_tile_keys) break;
    if (const double its = time(most); its < best.time) {
      best.shape.most_keys = most;
      best.time = its;
    }
  }
  return best;
}

std::size_t wgmma_bytes(int height, Index d, Index dv) {
  if constexpr (wgmma_built)
    return attend_wgmma_shared_bytes(height, static_cast<int>(d), static_cast<int>(dv));
  return 0;
}

}  // namespace

std::size_t query_tile_shared_bytes(int height, Index d, Precision precision,
                                    const Device& device) {
  return precision == Precision::fp32
             ? attend_shared_bytes(height, static_cast<int>(d), device.shared_per_block())
             : attend_mma_shared_bytes(height, static_cast<int>(d), precision);
}

QueryTileShape choose_shape(const QueryTileKeys& keys, const QueryTileUse& use,
                            const Device& device) {
  const auto& [d, dv, precision, warpgroups, maps, gathers] = use;
  const bool narrow = std::max(d, dv) <= 64;
  const bool by_warpgroups = warpgroups && dv > 0 && wgmma_takes(64, d, dv, maps);
  Candidate best{};
  for (const int height : {16, 64, 128, 192}) {
    const bool wgmma = by_warpgroups && wgmma_takes(height, d, dv, maps);
    // Where there are kernels by warpgroups those by warps are for the fewest queries only.
    if (height >= 64 && !wgmma && by_warpgroups) continue;
    if (height > query_tile_heights.back() && !wgmma) continue;
    const std::size_t bytes =
        wgmma ? wgmma_bytes(height, d, dv) : query_tile_shared_bytes(height, d, precision, device);
    if (height > query_tile_heights.front() &&  // the least height is always possible
        (bytes > device.shared_per_block() || dv > columns_per_pass(height, precision)))
      continue;
    const auto [clocks, together, resident, part] =
        wgmma ? wgmma_cost(height, narrow, gathers) : block_cost(height, narrow, precision);
    const Index fit = std::max<Index>(1, static_cast<Index>(device.shared_per_block() / bytes)),
                at_once = device.multiprocessors() * std::min<Index>(together, fit);
    Candidate found = best_division(keys(height), height, wgmma ? wgmma_kv_tile_keys : kv_tile_keys,
                                    part, at_once);
    found.shape.wave = device.multiprocessors() * std::min<Index>(resident, fit);
    found.time *= clocks * together;
    if (best.shape.height == 0 || found.time <= best.time) best = found;
  }
  return best.shape;
}

Index widest_head(Precision precision, const Device& device) {
  constexpr Index step = 64;  // shared memory grows by so many columns at once
  const int least = query_tile_heights.front();
  Index d = 0;
  while (std::max(query_tile_shared_bytes(least, d + step, Precision::fp32, device),
                  query_tile_shared_bytes(least, d + step, precision, device)) <=
         device.shared_per_block())
    d += step;
  return d;
}

// Registers cannot hold more columns of a tall query tile in fp32, and with split numbers.
Index columns_per_pass(int height, Precision precision) {
  if (height > query_tile_heights.back()) return 64;
  if (precision == Precision::fp32_split) return 128;
  return precision == Precision::fp32 && height == 128 ? 64 : 256;
}

Index makespan(const std::vector<EqualBlocks>& blocks, Index at_once) {
  Index sum = 0, longest = 0;
  for (const auto& [time, count] : blocks) {
    sum += Index{time} * count;
    longest = std::max<Index>(longest, time);
  }
  if (blocks.size() == 1) return divided_up<Index>(blocks.front().count, at_once) * longest;
  // How many places for blocks become free at each time. None begins later than at sum / at_once,
  // since all places are busy until then.
  std::vector<std::int32_t> free(static_cast<std::size_t>(sum / at_once + longest + 1));
  free[0] = static_cast<std::int32_t>(at_once);
  Index now = 0, last = 0;
  for (auto [time, count] : blocks)
    for (std::int32_t begun = 0; count > 0; count -= begun) {
      while (free[now] == 0) ++now;
      begun = std::min(count, free[now]);
      free[now] -= begun;
      free[now + time] += begun;
      last = std::max(last, now + time);
    }
  return last;
}

}  // namespace fovea::cuda
