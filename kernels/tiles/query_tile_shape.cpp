#include "tiles/query_tile_shape.h"

#include <algorithm>
#include <numeric>
#include <queue>

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

// The same of attend_wgmma. A multiprocessor has 2048 multiply-adds in a clock; the exponentials
// take as long where d + dv = 128. Both divided by the .7 that FlashAttention-3 reaches: assumed.
BlockCost wgmma_cost(int height, bool narrow) {
  const double products = height / 32.0 / 0.7, copies = 5.3;
  const int blocks = narrow && height == 64 ? 2 : 1;
  return {std::max(products, copies), blocks, blocks};
}

// Times, in those of a KV tile.
constexpr double kv_tiles_to_start = 3;  // for Q and Z, which are read and written once
constexpr double kv_tiles_to_join = 1;   // a part with the others
constexpr Index least_kv_tiles = 4;      // of a part

// Of 64 keys, for a kernel that takes `keys_per_kv_tile` keys at a time.
double kv_tiles_of(Index keys, Index keys_per_kv_tile) {
  return static_cast<double>((keys + keys_per_kv_tile - 1) / keys_per_kv_tile *
                             (keys_per_kv_tile / kv_tile_keys));
}

Index parts_of(Index keys, Index most_keys) {
  return (keys - 1) / most_keys + 1;
}

// Times of the blocks, in KV tiles.
std::vector<double> blocks_of(const std::vector<Index>& keys_of_tiles, Index most_keys,
                              Index keys_per_kv_tile) {
  std::vector<double> blocks;
  for (const Index keys : keys_of_tiles) {
    const Index parts = keys > 0 ? parts_of(keys, most_keys) : 1;
    const double kv_tiles =
        kv_tiles_of((keys + parts - 1) / parts, keys_per_kv_tile) + kv_tiles_to_start;
    blocks.insert(blocks.end(), static_cast<std::size_t>(parts),
                  parts > 1 ? kv_tiles + kv_tiles_to_join : kv_tiles);
  }
  return blocks;
}

struct Candidate {
  QueryTileShape shape;
  double time;
};

// The best one of a height.
Candidate best_division(const std::vector<Index>& keys_of_tiles, int height, Index keys_per_kv_tile,
                        Index at_once) {
  const QueryTileShape whole{.height = height, .keys_per_kv_tile = keys_per_kv_tile};
  Candidate best{whole,
                 makespan(blocks_of(keys_of_tiles, whole.most_keys, keys_per_kv_tile), at_once)};
  if (keys_of_tiles.empty()) return best;
  const Index longest = std::ranges::max(keys_of_tiles),
              all = std::accumulate(keys_of_tiles.begin(), keys_of_tiles.end(), Index{0});
  // Blocks of equal length that fill the device many times over are not to be divided.
  if (std::ssize(keys_of_tiles) > 8 * at_once && longest <= all / at_once) return best;
  for (const Index parts : {2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    const Index most = ((longest + parts - 1) / parts + keys_per_kv_tile - 1) / keys_per_kv_tile *
                       keys_per_kv_tile;  // whole KV tiles
    if (most < least_kv_tiles * kv_tile_keys) break;
    if (const double time = makespan(blocks_of(keys_of_tiles, most, keys_per_kv_tile), at_once);
        time < best.time)
      best = {{height, most, keys_per_kv_tile}, time};
  }
  return best;
}

std::size_t wgmma_bytes(int height, Index d, Index dv) {
  if constexpr (wgmma_built)
    return attend_wgmma_shared_bytes(height, static_cast<int>(d), static_cast<int>(dv));
  return 0;
}

}  // namespace

std::size_t query_tile_shared_bytes(int height, Index d, Precision precision) {
  return precision == Precision::fp32
             ? attend_shared_bytes(height, static_cast<int>(d))
             : attend_mma_shared_bytes(height, static_cast<int>(d), precision);
}

QueryTileShape choose_shape(const QueryTileKeys& keys, Index d, Index dv, Precision precision,
                            bool warpgroups, const Device& device) {
  Candidate best{};
  for (const int height : query_tile_heights) {
    const bool wgmma = warpgroups && dv > 0 && wgmma_takes(height, d, dv);
    const std::size_t bytes =
        wgmma ? wgmma_bytes(height, d, dv) : query_tile_shared_bytes(height, d, precision);
    if (height > query_tile_heights.front() &&  // the least height is always possible
        (bytes > device.shared_per_block() || dv > columns_per_pass(height, precision)))
      continue;
    const bool narrow = std::max(d, dv) <= 64;
    const auto [clocks, together, resident] =
        wgmma ? wgmma_cost(height, narrow) : block_cost(height, narrow, precision);
    const Index fit = std::max<Index>(1, static_cast<Index>(device.shared_per_block() / bytes)),
                at_once = device.multiprocessors() * std::min<Index>(together, fit);
    Candidate found =
        best_division(keys(height), height, wgmma ? wgmma_kv_tile_keys : kv_tile_keys, at_once);
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
  while (std::max(query_tile_shared_bytes(least, d + step, Precision::fp32),
                  query_tile_shared_bytes(least, d + step, precision)) <= device.shared_per_block())
    d += step;
  return d;
}

// Registers cannot hold more columns of a tall query tile in fp32, and with split numbers.
Index columns_per_pass(int height, Precision precision) {
  if (precision == Precision::fp32_split) return 128;
  return precision == Precision::fp32 && height == 128 ? 64 : 256;
}

double makespan(const std::vector<double>& blocks, Index at_once) {
  std::priority_queue<double, std::vector<double>, std::greater<>> ends;
  double last = 0;
  for (const double block : blocks) {
    double end = block;
    if (std::ssize(blocks) > at_once && static_cast<Index>(ends.size()) == at_once) {
      end += ends.top();
      ends.pop();
    }
    ends.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace fovea::cuda
