// The kernel of attend_wgmma, after FlashAttention-3 (Shah et al. 2024). Each consumer warpgroup
// has 64 queries. Two warps of another warpgroup copy tiles of 128 keys, two more their values,
// into rings in shared memory.
//
// ../README.md says what bounds the kernel, how fast it is, and which other forms were slower. For
// a KV tile without masks a warp issues 382 instructions with narrow heads and 425 with wide ones
// (tests/kernels/resources/count_step.py), 64 of which are exponentials. Nothing spills.
#pragma once

#include <type_traits>

#include "ptx_hopper.h"
#include "tiles/attend_wgmma.h"
#include "tiles/fragments.cuh"
#include "tiles/mma_tiles.cuh"
#include "tiles/segment_tracker.cuh"
#include "tiles/wgmma_copies.cuh"
#include "tiles/wgmma_shape.cuh"

namespace fovea::cuda {

template <Precision P, class Shape, bool Maps>
class WgmmaAttention {
  static constexpr int DepthChunks = Shape::depth_chunks, ValueChunks = Shape::value_chunks,
                       Consumers = Shape::consumers, stages = Shape::stages;
  using Shared = WgmmaShared<Consumers, stages>;
  static constexpr int places = Shared::places, warps = warpgroup / 32;
  static constexpr int key_groups = wide_keys / 8, value_groups = ValueChunks * chunk / 8;
  // Z is rescaled only when the maximum of a row has grown by more than this, in log2. Weights stay
  // below 2^8, far inside the range of fp16.
  static constexpr float rescale_threshold = 8;

 public:
  __device__ explicit WgmmaAttention(const WgmmaArgs& args)
      : a_(args.attend), args_(args), query_tile_(args.attend.queries.tiles[blockIdx.x]) {
    char* const shared = dynamic_shared<char>();
    queries_ = shared + (tile_alignment - shared_address(shared) % tile_alignment) % tile_alignment;
    keys_ = queries_ + Shape::queries_bytes;
    values_ = keys_ + stages * DepthChunks * wide_tile_bytes;
    shared_ = reinterpret_cast<Shared*>(queries_ + Shape::queries_bytes + Shape::tiles_bytes);
    thread_ = static_cast<int>(threadIdx.x) % warpgroup;
    group_ = uniform(static_cast<int>(threadIdx.x) / warpgroup);
  }

  __device__ void run() {
    if (threadIdx.x == 0) begin();
    __syncthreads();
    if (shared_->give_up) return;
    if (group_ < Consumers) {
      if constexpr (Shape::shares) set_registers<Shape::registers, Shape::multiplying>();
      consume();
    } else {
      if constexpr (Shape::shares) set_registers<Shape::registers, Shape::copying>();
      if (uniform(thread_ / copy_threads) == 0)
        copy<true>();
      else
        copy<false>();
    }
  }

 private:
  __device__ void begin() {
    for (int i = 0; i < stages; ++i) {
      init_barrier(&shared_->keys_full[i], 2 * copy_threads);  // of slots and of keys
      init_barrier(&shared_->values_full[i], copy_threads);
      init_barrier(&shared_->keys_empty[i], Consumers * warps);
      init_barrier(&shared_->values_empty[i], Consumers * warps);
    }
    for (int i = 0; i < places; ++i) init_barrier(&shared_->slots_full[i], copy_threads);
    for (int i = 0; i < Consumers; ++i) {
      init_barrier(&shared_->queries[i], warpgroup);
      init_barrier(&shared_->turn[i], warps);
    }
    // Another block has waited in vain, and this one would as well. Read once, since all of its
    // warps must stay or leave: registers are shared out among them.
    shared_->give_up = *args_.stuck != 0;
    publish_barriers();
  }

  // The same value in all lanes of a warp, which the compiler cannot know: products must not be
  // started where lanes may have parted.
  __device__ static int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

  // By whole warps, which start products. After the first wait in vain none waits any more, so that
  // the block ends.
  __device__ void wait(PhaseBarrier& barrier, int parity) {
    const bool ended = stuck_ || wait_for_phase(&barrier, static_cast<unsigned>(parity & 1));
    if (__all_sync(0xffffffffu, ended)) return;
    stuck_ = true;
    atomicMax(args_.stuck, 1);
  }

  // ---- The threads that copy: half of them K, the others V --------------------------------------

  __device__ static TileKind kind_of(const KvTile& kv_tile) {
    if (kv_tile.keys == 0) return no_tile;
    const int kind = kv_tile.even && !kv_tile.masked ? plain : general;
    return static_cast<TileKind>(kv_tile.first_row < 0 ? kind | gathered : kind);
  }

  // A place of slots is written again for the KV tile at + places, when all consumers have released
  // the keys of at + 1. By then they have masked the logits of `at` and waited for its values, so
  // that those that copy V have read the slots, too.
  template <bool Keys>
  __device__ void copy() {
    const int thread = thread_ % copy_threads;
    KeyIterator iterator = first_keys(query_tile_, a_.queries.lists);
    for (int at = 0; !stuck_; ++at) {
      const int stage = at % stages, place = at % places, before = at / stages - 1;
      auto& slots = shared_->slots[place];
      KvTile kv_tile;
      if constexpr (Keys) {
        kv_tile = next_plain_kv_tile<wide_keys>(iterator, a_.queries.lists);
        const bool without_slots = kv_tile.keys > 0;
        if (before >= 0) wait(shared_->keys_empty[stage], before);
        if (!without_slots)
          kv_tile = next_kv_tile(iterator, a_.queries.lists, false, slots, thread, copy_threads);
        // Plain KV tiles have no slots: then the first thread alone writes.
        if (thread == 0) {
          shared_->kv_tile[place] = kv_tile;
          shared_->kind[place] = kind_of(kv_tile);
        }
        arrive_as_threads(shared_->slots_full[place], without_slots, thread);
        arrive_as_threads(shared_->keys_full[stage], without_slots, thread);
        if (kv_tile.keys == 0) {
          arrive(&shared_->keys_full[stage]);
          break;
        }
        copy_kv_tile<DepthChunks>(keys_ + stage * DepthChunks * wide_tile_bytes, args_.keys,
                                  args_.operands.k, kv_tile.first_row, slots.key_row,
                                  shared_->keys_full[stage], thread);
      } else {
        wait(shared_->slots_full[place], at / places);
        kv_tile = shared_->kv_tile[place];
        if (stuck_ || kv_tile.keys == 0) break;
        if (before >= 0) wait(shared_->values_empty[stage], before);
        copy_kv_tile<ValueChunks>(values_ + stage * ValueChunks * wide_tile_bytes, args_.values,
                                  args_.operands.v, kv_tile.first_row, slots.key_row,
                                  shared_->values_full[stage], thread);
      }
    }
    commit_copies();
    wait_copies<0>();  // none of this thread's is under way when the block ends
  }

  // ---- The consumers ----------------------------------------------------------------------------

  // The open segments of the queries of a thread.
  using Layout = MmaLayout<wide_keys>;
  using Segments = std::conditional_t<Maps, SegmentTracker<Layout>, NoSegments>;
  __device__ Segments make_segments() const {
    if constexpr (Maps)
      return Segments(a_.segments, Layout(row_, Consumers * group_queries));
    else
      return Segments(a_.segments);
  }

  __device__ void consume() {
    const int lane = thread_ % 32;
    row_ = group_ * group_queries + thread_ / 32 * 16 + lane / 4;
    column_ = lane % 4 * 2;
    Segments segments = make_segments();
    load_queries();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      reference_[h] = -INFINITY;
      sum_[h] = 0;
    }
#pragma unroll
    for (int j = 0; j < value_groups; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) z_[j][c] = 0;

    if constexpr (Shape::overlaps)
      attend_overlapped(segments);
    else
      attend_in_turn(segments);
    if (stuck_) return;
    if constexpr (Maps) segments.finish();  // by thread 0, too, which is a consumer
    std::int32_t cluster[2];
    find_clusters(cluster);
    write_rows(a_, query_tile_, row_, column_, cluster, reference_, sum_, z_);
  }

  // Each KV tile's products with its values run beside the next one's with its keys, and beside the
  // search for the largest logits. Masks need the registers of Z's products, so a masked tile waits
  // for these first.
  __device__ void attend_overlapped(Segments& segments) {
    float s[key_groups][4];
    std::uint32_t p[wide_keys / 16][4];
    int kind = wait_for_keys(0);
    if (kind == no_tile) return;
    take_turn(0);
    fence_products();
    start_logits(s, 0);
    pass_turn();
    wait_products<0>(s);
    release(shared_->keys_empty, 0);
    if (kind & general) mask(s, 0);
    weigh(s, p, largest(s, 0, segments), segments);
    int at = 1;
    const auto step = [&](auto masked) {
      take_turn(at);
      fence_products();
      start_logits(s, at);
      start_values(p, at - 1);
      pass_turn();
      wait_products<1>(s);
      release(shared_->keys_empty, at);
      const auto wait_for_z = [&] {
        wait_products<0>(z_);
        release(shared_->values_empty, at - 1);
      };
      if constexpr (decltype(masked)::value) {
        wait_for_z();
        mask(s, at);
        weigh(s, p, largest(s, at, segments), segments);
      } else {
        const Largest most = largest(s, at, segments);
        wait_for_z();
        weigh(s, p, most, segments);
      }
    };
    for (;; ++at) {
      wait_for_values(at - 1, kind);
      kind = wait_for_keys(at);
      if (kind == no_tile) break;
      if (kind & general)
        step(std::true_type());
      else
        step(std::false_type());
    }
    fence_products();
    start_values(p, at - 1);
    wait_products<0>(z_);
  }

  // One product after the other; the other consumers compute meanwhile. Waits for copies are beside
  // products.
  __device__ void attend_in_turn(Segments& segments) {
    float s[key_groups][4];
    std::uint32_t p[wide_keys / 16][4];
    int kind = wait_for_keys(0);
    if (kind == no_tile) return;
    fence_products();
    start_logits(s, 0);
    wait_for_values(0, kind);
    wait_products<0>(s);
    release(shared_->keys_empty, 0);
    if (kind & general) mask(s, 0);
    weigh(s, p, largest(s, 0, segments), segments);
    for (int at = 1;; ++at) {
      fence_products();
      start_values(p, at - 1);
      kind = wait_for_keys(at);
      wait_products<0>(z_);
      release(shared_->values_empty, at - 1);
      if (kind == no_tile) break;
      fence_products();
      start_logits(s, at);
      wait_for_values(at, kind);
      wait_products<0>(s);
      release(shared_->keys_empty, at);
      if (kind & general) mask(s, at);
      weigh(s, p, largest(s, at, segments), segments);
    }
  }

  // Finds the clusters of rows row_ and row_ + 8. Keeping them would take registers.
  __device__ void find_clusters(std::int32_t (&cluster)[2]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row_ + 8 * h;
      cluster[h] =
          r < query_tile_.row_count ? cluster_of(query_tile_, a_.queries.lists.indices, r) : 0;
    }
  }

  // Those of this warpgroup.
  __device__ void load_queries() {
    const int piece = thread_ % row_pieces;
    for (int i = thread_ / row_pieces; i < group_queries; i += warpgroup / row_pieces) {
      const int r = group_ * group_queries + i;
      const std::int32_t row =
          r < query_tile_.row_count
              ? query_tile_.query_base + (cluster_of(query_tile_, a_.queries.lists.indices, r)
                                          << query_tile_.query_shift)
              : -1;
      copy_pieces<DepthChunks>(queries_ + group_ * group_tile_bytes + swizzled(i, piece),
                               Consumers * group_tile_bytes, args_.operands.q, row, piece);
    }
    commit_copies();
    wait_copies<0>();
    fence_async_proxy();
    arrive(&shared_->queries[group_]);
    wait(shared_->queries[group_], 0);
  }

  // What is gathered is written by threads, not by the tensor memory accelerator.
  __device__ int wait_for_keys(int at) {
    wait(shared_->keys_full[at % stages], at / stages);
    const int kind = uniform(stuck_ ? no_tile : int{shared_->kind[at % places]});
    if (kind & gathered) fence_async_proxy();
    return kind;
  }
  __device__ void wait_for_values(int at, int kind) {
    wait(shared_->values_full[at % stages], at / stages);
    if (kind & gathered) fence_async_proxy();
  }

  // The warpgroups take turns with the tensor cores.
  __device__ void take_turn(int at) {
    if constexpr (Shape::turns) wait(shared_->turn[group_], group_ == 0 ? at - 1 : at);
  }
  __device__ void pass_turn() {
    if constexpr (Shape::turns)
      arrive_as_warp(shared_->turn[group_ + 1 == Consumers ? 0 : group_ + 1]);
  }
  __device__ void release(PhaseBarrier (&empty)[stages], int at) {
    arrive_as_warp(empty[at % stages]);
  }
  // An arrival for what all lanes of the warp did before.
  __device__ void arrive_as_warp(PhaseBarrier& barrier) {
    __syncwarp();
    if (thread_ % 32 == 0) arrive(&barrier);
  }

  __device__ void start_logits(float (&s)[key_groups][4], int at) const {
    const std::uint64_t queries = columns_of(shared_address(queries_ + group_ * group_tile_bytes));
    const std::uint64_t keys =
        columns_of(shared_address(keys_ + at % stages * DepthChunks * wide_tile_bytes));
#pragma unroll
    for (int part = 0; part < DepthChunks; ++part)
#pragma unroll
      for (int i = 0; i < chunk / 16; ++i)
        multiply_columns<P>(s, further(queries, part * Consumers * group_tile_bytes + i * 32),
                            further(keys, part * wide_tile_bytes + i * 32), part + i > 0);
    commit_products();
  }

  __device__ void start_values(const std::uint32_t (&p)[wide_keys / 16][4], int at) {
    const std::uint64_t values = rows_of(
        shared_address(values_ + at % stages * ValueChunks * wide_tile_bytes), wide_tile_bytes);
#pragma unroll
    for (int i = 0; i < wide_keys / 16; ++i)
      multiply_rows<P>(z_, p[i], further(values, i * 16 * row_bytes));
    commit_products();
  }

  // Logits are weighted, and -inf where a pair does not count.
  __device__ void mask(float (&s)[key_groups][4], int at) const {
    std::int32_t cluster[2];
    find_clusters(cluster);
    weigh_and_mask<false>(s, row_, cluster, column_, shared_->kv_tile[at % places],
                          shared_->slots[at % places], a_.queries.lists);
  }

  // The largest of the references and the logits of a KV tile: of this thread, or of its rows.
  struct Largest {
    float top[2];
    // For maps: of the logits alone, the first key, how many there are, and whether all lie in one
    // column.
    float tile_most[2];
    int first_key, keys;
    bool whole;
  };
  // Maps take the logits, unless the keys lie in one column: then the largest are enough.
  __device__ Largest largest(const float (&s)[key_groups][4], [[maybe_unused]] int at,
                             [[maybe_unused]] Segments& segments) const {
    Largest found;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if constexpr (Maps) {
        found.tile_most[h] = largest_of_row(s, h, -INFINITY);
        found.top[h] = fmaxf(found.tile_most[h], reference_[h]);
      } else {
        found.top[h] = largest_of_thread(s, h, reference_[h]);
      }
    }
    if constexpr (Maps) {
      const KvTile& kv_tile = shared_->kv_tile[at % places];
      found.first_key = kv_tile.first_cluster;
      found.keys = kv_tile.keys;
      found.whole = segments.in_one_column(found.first_key, found.keys);
      if (!found.whole) segments.take_logits(s, found.first_key, found.keys);
    }
    return found;
  }

  // The second half of a step of the streaming softmax: logits become weights, where the second
  // product expects them. What they are relative to follows the maximum only when that has moved
  // far, since then Z must be rescaled.
  __device__ void weigh(float (&s)[key_groups][4], std::uint32_t (&p)[wide_keys / 16][4],
                        Largest most, [[maybe_unused]] Segments& segments) {
    follow(most.top);
    float subtracted[2];
    [[maybe_unused]] float tile_sum[2] = {0, 0};
#pragma unroll
    for (int h = 0; h < 2; ++h)
      subtracted[h] = reference_[h] == -INFINITY ? 0.0f : reference_[h];  // not (-inf) - (-inf)
#pragma unroll
    for (int j = 0; j < key_groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float &first = s[j][2 * h], &second = s[j][2 * h + 1];
        first = exp2_fast(first - subtracted[h]);
        second = exp2_fast(second - subtracted[h]);
        sum_[h] += first + second;  // of this thread's keys only
        if constexpr (Maps) tile_sum[h] += first + second;
        p[j / 2][j % 2 * 2 + h] = pack_16<P>(first, second);
      }
    if constexpr (Maps) {
      if (most.whole)
        segments.take_kv_tile(most.tile_most, tile_sum, reference_, most.first_key);
      else
        segments.take_weights(s, reference_, most.first_key, most.keys);
    }
  }

  // The references of rows whose maximum has moved far become that maximum, and Z and the sums are
  // rescaled; other rows keep theirs, whatever happens in these.
  __device__ void follow(const float (&top)[2]) {
    const bool far =
        top[0] - rescale_threshold > reference_[0] || top[1] - rescale_threshold > reference_[1];
    if (!__any_sync(0xffffffffu, far)) return;  // no row of this warp
    float factor[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float most = largest_of_lanes(top[h]);
      const bool moved = most - rescale_threshold > reference_[h];
      factor[h] = moved ? exp2_fast(reference_[h] - most) : 1.0f;
      sum_[h] *= factor[h];
      if (moved) reference_[h] = most;
    }
#pragma unroll
    for (int j = 0; j < value_groups; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) z_[j][c] *= factor[c / 2];
  }

  const AttendArgs& a_;
  const WgmmaArgs& args_;
  const QueryTile& query_tile_;      // read again where needed, to save registers
  char *queries_, *keys_, *values_;  // [chunk][64 a warpgroup], [stage][chunk][128], the same
  Shared* shared_;
  int thread_, group_;  // of the warpgroup; of the block
  bool stuck_ = false;
  int row_, column_;  // of the query tile and of 8 columns: what this thread's sums are
  float reference_[2], sum_[2], z_[value_groups][4];
};

}  // namespace fovea::cuda
