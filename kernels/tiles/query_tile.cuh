// How a block of 128 threads goes through the keys of a query tile, a KV tile of 64 keys at a time:
// what the kernels that need logits have in common. Thread (tx, ty) of 8 x 16 owns rows ty + 16 i
// and keys tx + 8 j of a KV tile.
#pragma once

#include <cstddef>

#include "ptx.h"
#include "tiles/attend_args.h"

namespace fovea::cuda {

constexpr int block_threads = 128, row_threads = 16, key_threads = 8;
constexpr int keys_per_thread = kv_tile_keys / key_threads;
constexpr int chunk = 64;          // columns of a tile in shared memory
constexpr int padded = chunk + 4;  // floats from row to row: no bank conflicts

/// The keys of a KV tile. A slot without a key has row -1 and weight -inf.
template <int Keys>
struct KeySlots {
  std::int32_t key_row[Keys], cluster[Keys], level[Keys];
  std::int32_t lo[Keys], hi[Keys];
  std::int32_t earlier[Keys], rounds[Keys];      // as in the slot's ColumnRun
  std::int16_t first_row[Keys], last_row[Keys];  // of the query tile: those that have the key
  float weight[Keys];
};
using Slots = KeySlots<kv_tile_keys>;

/// The cluster of a query of the tile, whose order is in `indices`.
__device__ inline std::int32_t cluster_of(const QueryTile& query_tile, const std::int32_t* indices,
                                          int row) {
  const std::int32_t position = query_tile.first_row + row;
  return query_tile.rows < 0 ? position : indices[query_tile.rows + position];
}

/// The clusters of a tile's queries and their rows of Q; beyond the last one 0 and -1.
__device__ inline void find_query_rows(const QueryTile& query_tile, const Lists& lists, int height,
                                       std::int32_t* clusters, std::int32_t* rows, int threads) {
  for (int r = static_cast<int>(threadIdx.x); r < height; r += threads) {
    std::int32_t cluster = 0, row = -1;
    if (r < query_tile.row_count) {
      cluster = cluster_of(query_tile, lists.indices, r);
      row = query_tile.query_base + (cluster << query_tile.query_shift);
    }
    clusters[r] = cluster;
    rows[r] = row;
  }
}

/// Which keys of a query tile come next; the same in all threads of the block.
struct KeyIterator {
  std::int32_t run, last_run, at;
  std::int32_t least_row, greatest_row;  // positions: clusters if `ordered`
  bool ordered;
};

__device__ inline KeyIterator first_keys(const QueryTile& query_tile, const Lists& lists) {
  return {query_tile.first_run,
          query_tile.last_run,
          query_tile.first_run < query_tile.last_run ? lists.runs[query_tile.first_run].begin : 0,
          query_tile.first_row,
          query_tile.first_row + query_tile.row_count - 1,
          query_tile.rows < 0};
}

struct KvTile {
  int keys;     // 0: there are no more
  bool masked;  // some pair may not count
  bool even;    // no slot is without a key, all weights 1, logits only scaled
  bool banded;  // only slots' bands exclude pairs, and logits are only scaled
  // The keys are this row and those that follow it, one for each slot; -1 means others.
  std::int32_t first_row;
  // The cluster of the first key, where clusters follow one another; -1 means elsewhere.
  std::int32_t first_cluster;
};

/// Where the keys of a run begin and end that some row of [least_row, greatest_row] attends.
struct AttendedKeys {
  std::int32_t begin, end;
};
__device__ inline AttendedKeys attended_keys(const ColumnRun& run, std::int32_t begin, bool ordered,
                                             std::int32_t least_row, std::int32_t greatest_row) {
  std::int32_t end = run.end;
  if (ordered) {
    const long long first = static_cast<long long>(least_row) - run.hi,
                    last = static_cast<long long>(greatest_row) - run.lo;
    if (first > begin) begin = static_cast<std::int32_t>(first < end ? first : end);
    if (last + 1 < end) end = static_cast<std::int32_t>(last + 1 > begin ? last + 1 : begin);
  }
  return {begin, end};
}

/// Whether the band of a run may exclude a pair of `taken` keys from `begin` on.
__device__ inline bool band_excludes(const ColumnRun& run, std::int32_t begin, int taken,
                                     bool ordered, std::int32_t least_row,
                                     std::int32_t greatest_row) {
  const std::int32_t unbounded = static_cast<std::int32_t>(Band::unbounded);
  if (run.lo == -unbounded && run.hi == unbounded) return false;
  return !ordered || least_row - (begin + taken - 1) < run.lo || greatest_row - begin > run.hi;
}

/// Goes on behind `taken` keys from `begin` on of those that end at `end`.
__device__ inline void advance(KeyIterator& iterator, const Lists& lists, std::int32_t begin,
                               int taken, std::int32_t end) {
  iterator.at = begin + taken;
  if (iterator.at >= end && ++iterator.run < iterator.last_run)
    iterator.at = lists.runs[iterator.run].begin;
}

/// Takes the next keys if they are as many as there can be, if their rows follow one another, and
/// if every query has all of them with weight 1 and logits that are only scaled: then no slots are
/// needed. Otherwise `keys` is 0, and nothing is taken.
template <int Keys>
__device__ inline KvTile next_plain_kv_tile(KeyIterator& iterator, const Lists& lists) {
  const KvTile none{0, false, true, true, -1, -1};
  if (iterator.run >= iterator.last_run || lists.head.changes || lists.head.excludes) return none;
  const ColumnRun& run = lists.runs[iterator.run];
  if (run.cols >= 0 || run.weight >= 0 || run.rounds > 0 || run.first_row > iterator.least_row ||
      run.last_row <= iterator.greatest_row)
    return none;
  const auto [begin, end] =
      attended_keys(run, iterator.at, iterator.ordered, iterator.least_row, iterator.greatest_row);
  if (end - begin < Keys ||
      band_excludes(run, begin, Keys, iterator.ordered, iterator.least_row, iterator.greatest_row))
    return none;
  const std::int32_t first_row = run.key_base + begin;
  advance(iterator, lists, begin, Keys, end);
  return {Keys, false, true, true, first_row, begin};
}

/// Takes the next keys. Threads 0 to `threads` - 1 call it together; the slots can be read after
/// these have met.
template <int Keys>
__device__ inline KvTile next_kv_tile(KeyIterator& iterator, const Lists& lists, bool pair_weights,
                                      KeySlots<Keys>& slots, int thread, int threads) {
  KvTile kv_tile{0, false, true, !lists.head.changes && !lists.head.excludes, -1, -1};
  while (kv_tile.keys < Keys && iterator.run < iterator.last_run) {
    const ColumnRun run = lists.runs[iterator.run];
    const bool ordered = iterator.ordered && run.cols < 0;
    const std::int32_t least_row = max(iterator.least_row, run.first_row),
                       greatest_row = min(iterator.greatest_row, run.last_row - 1);
    const bool some_rows = least_row > iterator.least_row || greatest_row < iterator.greatest_row;
    const auto [begin, end] = attended_keys(run, iterator.at, ordered, least_row, greatest_row);
    const int taken = min(Keys - kv_tile.keys, end - begin);
    if (taken > 0) {
      if (taken == Keys && run.cols < 0) kv_tile.first_row = run.key_base + begin;
      if (kv_tile.keys == 0 && run.cols < 0) kv_tile.first_cluster = begin;
      kv_tile.masked |= band_excludes(run, begin, taken, ordered, least_row, greatest_row) ||
                        run.rounds > 0 || lists.head.excludes || some_rows;
      kv_tile.banded &= run.rounds == 0 && (iterator.ordered || !some_rows);
      const std::int32_t weight = pair_weights ? run.pair_weight : run.weight;
      kv_tile.even &= weight < 0;
      for (int slot = thread; slot < kv_tile.keys + taken; slot += threads) {
        if (slot < kv_tile.keys) continue;
        const std::int32_t position = begin + slot - kv_tile.keys;
        const std::int32_t cluster = run.cols < 0 ? position : lists.indices[run.cols + position];
        slots.key_row[slot] = run.key_base + cluster;
        slots.cluster[slot] = cluster;
        slots.level[slot] = run.level;
        // Rows in sequence order are a band of each key.
        const bool narrower = some_rows && iterator.ordered;
        slots.lo[slot] = narrower ? max(run.lo, least_row - cluster) : run.lo;
        slots.hi[slot] = narrower ? min(run.hi, greatest_row - cluster) : run.hi;
        slots.first_row[slot] = static_cast<std::int16_t>(least_row - iterator.least_row);
        slots.last_row[slot] = static_cast<std::int16_t>(greatest_row - iterator.least_row);
        slots.earlier[slot] = run.earlier;
        slots.rounds[slot] = run.rounds;
        slots.weight[slot] = weight < 0 ? 0.0f : lists.weights[weight + position];
      }
      kv_tile.keys += taken;
    }
    advance(iterator, lists, begin, max(taken, 0), end);
  }
  kv_tile.even &= kv_tile.keys == Keys && !lists.head.changes;
  for (int slot = thread; slot < Keys; slot += threads) {
    if (slot < kv_tile.keys) continue;
    slots.key_row[slot] = -1;
    slots.cluster[slot] = slots.level[slot] = slots.lo[slot] = slots.hi[slot] = 0;
    slots.earlier[slot] = slots.rounds[slot] = 0;
    slots.first_row[slot] = slots.last_row[slot] = 0;
    slots.weight[slot] = -INFINITY;
  }
  return kv_tile;
}

/// The same by all threads of the block, whose slots can be read after a barrier.
__device__ inline KvTile next_kv_tile(KeyIterator& iterator, const Lists& lists, bool pair_weights,
                                      Slots& slots) {
  return next_kv_tile(iterator, lists, pair_weights, slots, static_cast<int>(threadIdx.x),
                      static_cast<int>(blockDim.x));
}

/// Starts copying columns [column, column + 64) of the named rows to shared memory; zeros for rows
/// of -1 and beyond the matrix.
__device__ inline void load_rows(float* tile, Rows from, int column, const std::int32_t* row,
                                 int count) {
  constexpr int pieces = chunk / 4, rows_at_once = block_threads / pieces;
  const int c = static_cast<int>(threadIdx.x) % pieces * 4;
  const bool inside = column + c < from.stride;
  const float* const first = from.data + (inside ? column + c : 0);
#pragma unroll 2
  for (int r = static_cast<int>(threadIdx.x) / pieces; r < count; r += rows_at_once) {
    const std::int32_t its = row[r];
    copy_16_async(tile + r * padded + c,
                  first + static_cast<std::int64_t>(max(its, 0)) * from.stride, inside && its >= 0);
  }
}

/// s[i][j] += the products of the first `depth` columns of rows ty + 16 i of q and tx + 8 j of k,
/// one after the other: the same bits in every kernel.
template <int RowsPerThread>
__device__ __forceinline__ void accumulate_logits(float (&s)[RowsPerThread][keys_per_thread],
                                                  const float* q, const float* k, int depth) {
  const int tx = static_cast<int>(threadIdx.x) % key_threads,
            ty = static_cast<int>(threadIdx.x) / key_threads;
#pragma unroll 1  // more would take the registers of a whole block of 16 queries
  for (int c = 0; c < depth; c += 4) {
    float4 key[keys_per_thread];
#pragma unroll
    for (int j = 0; j < keys_per_thread; ++j)
      key[j] = *reinterpret_cast<const float4*>(k + (tx + key_threads * j) * padded + c);
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
      const float4 query =
          *reinterpret_cast<const float4*>(q + (ty + row_threads * i) * padded + c);
#pragma unroll
      for (int j = 0; j < keys_per_thread; ++j)
        s[i][j] = fmaf(
            query.w, key[j].w,
            fmaf(query.z, key[j].z, fmaf(query.y, key[j].y, fmaf(query.x, key[j].x, s[i][j]))));
    }
  }
}

/// What the rule of the head makes of a logit, in log2 units.
__device__ inline float changed(const HeadConditions& head, std::int32_t query, std::int32_t key,
                                float logit) {
  constexpr float log2e = 1.44269504f;
  if (head.log2_cap > 0) logit = head.log2_cap * tanhf(logit / head.log2_cap);
  if (head.by_distance) logit += log2e * head.by_distance[query - key + head.keys - 1];
  if (head.by_key) logit += log2e * head.by_key[key];
  if (head.bias) logit += log2e * head.bias[key * head.bias_stride + query];
  return logit;
}

/// Whether the mask of the head admits a pair.
__device__ inline bool admits(const HeadConditions& head, std::int32_t query, std::int32_t key) {
  if (head.query_document && head.query_document[query] != head.key_document[key]) return false;
  return !head.bits || (head.bits[query * head.bits_stride + key / 32] >> (key % 32) & 1);
}

/// Whether a pair counts: its row, of the query tile, has the slot's key, it lies in the band of
/// the slot's run, the head's mask admits it and no earlier pass has counted it.
template <int Keys>
__device__ inline bool counts(const Lists& lists, const KeySlots<Keys>& slots, int slot, int row,
                              std::int32_t query) {
  if (row < slots.first_row[slot] || row > slots.last_row[slot]) return false;
  const std::int32_t apart = query - slots.cluster[slot];
  if (apart < slots.lo[slot] || apart > slots.hi[slot]) return false;
  if (lists.head.excludes && !admits(lists.head, query, slots.cluster[slot])) return false;
  for (int round = 0; round < slots.rounds[slot]; ++round) {
    const std::int32_t* chunks =
        lists.chunks + slots.earlier[slot] + static_cast<std::size_t>(2 * round) * lists.n;
    const std::int32_t chunks_apart = chunks[query] - chunks[lists.n + slots.cluster[slot]];
    if (chunks_apart == 0 || chunks_apart == 1) return false;
  }
  return true;
}

/// Logits in log2 units, weighted; -inf where a pair does not count.
template <int RowsPerThread>
__device__ __forceinline__ void weigh_and_mask(float (&s)[RowsPerThread][keys_per_thread],
                                               float log2_scale, const Lists& lists,
                                               const Slots& slots, KvTile kv_tile,
                                               const std::int32_t* row_cluster) {
  const int tx = static_cast<int>(threadIdx.x) % key_threads,
            ty = static_cast<int>(threadIdx.x) / key_threads;
  if (kv_tile.banded) {
#pragma unroll
    for (int j = 0; j < keys_per_thread; ++j) {
      const int slot = tx + key_threads * j;
      const float weight = slots.weight[slot];
      const std::int32_t cluster = slots.cluster[slot], lo = slots.lo[slot], hi = slots.hi[slot];
#pragma unroll
      for (int i = 0; i < RowsPerThread; ++i) {
        const std::int32_t apart = row_cluster[ty + row_threads * i] - cluster;
        const float logit = __fadd_rn(__fmul_rn(s[i][j], log2_scale), weight);
        s[i][j] = kv_tile.masked && (apart < lo || apart > hi) ? -INFINITY : logit;
      }
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < keys_per_thread; ++j) {
    const int slot = tx + key_threads * j;
    const float weight = slots.weight[slot];
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
      const int row = ty + row_threads * i;
      const std::int32_t query = row_cluster[row];
      float logit = __fmul_rn(s[i][j], log2_scale);
      if (lists.head.changes) logit = changed(lists.head, query, slots.cluster[slot], logit);
      const bool excluded = kv_tile.masked && !counts(lists, slots, slot, row, query);
      s[i][j] = excluded ? -INFINITY : __fadd_rn(logit, weight);
    }
  }
}

}  // namespace fovea::cuda
