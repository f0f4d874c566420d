// A SegmentTracker collects the segments of a query tile while a block goes through its keys, which
// are in sequence order without gaps. It works on the logits and weights that a thread holds of a
// KV tile, in registers as a Layout says: some rows, which other threads share with their keys. Of
// the threads that share rows, the i-th keeps the open segment of the i-th row.
//
// Its cost, counted, not measured: with query tiles of 128 queries and columns of 64 keys or more
// some 500 instructions per thread and KV tile of 64 keys, beside 8192 multiply-adds at d = dv =
// 64, and some 250 for every narrower column; no shared memory; at dv = 64 up to 20 registers more.
// Of 128 keys it is twice as many. In addition 8 bytes for every query and column are written once
// and read once: .5 ms of an H200's memory bandwidth at n = 131072 and 1024 columns, where the
// multiply-adds take 66 ms. The kernels of tensor cores have found the largest logit and the sum of
// the weights of a whole KV tile anyway, which they pass to take_kv_tile where the KV tile lies in
// one column: some 30 instructions.
#pragma once

#include "tiles/query_tile.cuh"
#include "tiles/segments.h"

namespace fovea::cuda {

/// Of attend.cu: thread (tx, ty) has rows ty + 16 i and keys tx + 8 j.
template <int RowsPerThread>
struct LaneLayout {
  static constexpr int rows = RowsPerThread, keys = keys_per_thread, sharers = key_threads,
                       slots = kv_tile_keys,
                       together = 1;  // keys of a thread in 8 adjacent slots
  using Values = float[rows][keys];
  const int place = static_cast<int>(threadIdx.x) % key_threads;

  __device__ int height() const { return row_threads * RowsPerThread; }
  __device__ int row(int i) const {
    return static_cast<int>(threadIdx.x) / key_threads + row_threads * i;
  }
  __device__ int first_slot() const { return place; }
  __device__ static constexpr int slots_on(int k) { return key_threads * k; }
  __device__ static float at(const Values& x, int i, int k) { return x[i][k]; }
};

/// Of tensor cores, for 16 rows of a warp and KV tiles of `Slots` keys: a thread has rows `first`
/// and `first` + 8 and 2 of each 8 keys.
template <int Slots>
struct MmaLayout {
  static constexpr int rows = 2, keys = Slots / 4, sharers = 4, slots = Slots, together = 2;
  using Values = float[Slots / 8][4];
  int first, all_rows;  // of the query tile
  int place = static_cast<int>(threadIdx.x) % sharers;

  __device__ MmaLayout(int first_row, int height) : first(first_row), all_rows(height) {}
  __device__ int height() const { return all_rows; }
  __device__ int row(int i) const { return first + 8 * i; }
  __device__ int first_slot() const { return 2 * place; }
  __device__ static constexpr int slots_on(int k) { return k / 2 * 8 + k % 2; }
  __device__ static float at(const Values& x, int i, int k) { return x[k / 2][2 * i + k % 2]; }
};

template <class Layout>
class SegmentTracker {
  using Values = typename Layout::Values;
  static constexpr int rows = Layout::rows;

 public:
  __device__ SegmentTracker(const SegmentArgs& args, const Layout& layout)
      : a_(args), layout_(layout), tx_(layout.place) {}
  __device__ explicit SegmentTracker(const SegmentArgs& args) : SegmentTracker(args, Layout()) {}

  /// Whether the keys from `first` on are a whole KV tile, and lie in one column.
  __device__ __forceinline__ bool in_one_column(int first, int keys) const {
    return keys == Layout::slots && first / a_.pixel == (first + Layout::slots - 1) / a_.pixel;
  }

  /// A KV tile whose keys lie in one column: of each row the largest logit, and the sum of this
  /// thread's weights, as in take_weights. In place of the other two functions.
  __device__ __forceinline__ void take_kv_tile(const float (&most)[rows],
                                               const float (&weights)[rows], const float* reference,
                                               int first) {
    if (end_ == 0) begin_ = first;
    end_ = first + Layout::slots;
    float own_most = -INFINITY, part = 0, own = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      float sum = weights[i];
#pragma unroll
      for (int flip = 1; flip < Layout::sharers; flip *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, flip);
      const float its_most = most[i], its = reference[i];  // copied first, as below
      part = tx_ == i ? sum : part;
      own_most = tx_ == i ? its_most : own_most;
      own = tx_ == i ? its : own;
    }
    maximum_ = fmaxf(maximum_, own_most);
    add(part, own);
    const int column = first / a_.pixel;
    if ((column + 1) * a_.pixel > end_) return;
    if (keeps()) *found(column) = make_float2(maximum_, log2_sum());
    maximum_ = -INFINITY;
    sum_ = 0;
  }

  /// The logits of a KV tile: keys [first, first + keys) of the sequence, then -inf.
  __device__ __forceinline__ void take_logits(const Values& s, int first, int keys) {
    if (end_ == 0) begin_ = first;
    for (int column = first / a_.pixel; column * a_.pixel < first + keys; ++column) {
      maximum_ = fmaxf(maximum_, own_of(s, column * a_.pixel - first, -INFINITY,
                                        [](float a, float b) { return fmaxf(a, b); }));
      if ((column + 1) * a_.pixel > first + keys) break;
      if (keeps()) found(column)->x = maximum_;
      maximum_ = -INFINITY;
    }
  }

  /// The weights of the same logits: row i's are 2^(logit - reference[i]).
  __device__ __forceinline__ void take_weights(const Values& weights, const float* reference,
                                               int first, int keys) {
    float own = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const float its = reference[i];  // copied first: indexed by tx_, the array would be in memory
      own = tx_ == i ? its : own;
    }
    end_ = first + keys;
    for (int column = first / a_.pixel; column * a_.pixel < end_; ++column) {
      const float part =
          own_of(weights, column * a_.pixel - first, 0.0f, [](float a, float b) { return a + b; });
      add(part, own);
      if ((column + 1) * a_.pixel > end_) break;
      if (keeps()) found(column)->y = log2_sum();
      sum_ = 0;
    }
  }

  /// There are no more keys.
  __device__ __forceinline__ void finish() {
    const int column = end_ / a_.pixel;
    const bool open = column * a_.pixel < end_;
    if (open && keeps()) *found(column) = make_float2(maximum_, log2_sum());
    if (threadIdx.x == 0)
      a_.seen[blockIdx.x] = make_int2(begin_ / a_.pixel, column + (open ? 1 : 0));
  }

 private:
  __device__ bool keeps() const {
    return tx_ < rows;
  }

  __device__ float2* found(int column) const {
    return a_.found +
           (static_cast<std::size_t>(blockIdx.x) * layout_.height() + layout_.row(tx_)) *
               a_.columns +
           column;
  }

  // Weights of the open segment: 2^(logit - reference), -inf: no key so far.
  __device__ __forceinline__ void add(float part, float reference) {
    if (reference == -INFINITY) reference = 0;
    sum_ = sum_ == 0 ? part : fmaf(sum_, exp2_fast(reference_ - reference), part);
    reference_ = reference;
  }

  __device__ float log2_sum() const {
    return sum_ == 0 ? -INFINITY : __fadd_rn(reference_, log2f(sum_));
  }

  // For the row of this thread: x joined over the slots [begin, begin + pixel).
  template <class Join>
  __device__ __forceinline__ float own_of(const Values& x, int begin, float none, Join join) const {
    float all[rows];
#pragma unroll
    for (int i = 0; i < rows; ++i) all[i] = none;
    // Relative to the thread's first slot: then the compiler knows the others.
    const int from = begin - layout_.first_slot(), to = from + a_.pixel;
#pragma unroll
    for (int j = 0; j < Layout::keys; ++j) {
      // The thread has no key in this segment: columns may be narrow.
      const int around = j / Layout::together * 8;
      if (around + 8 <= begin || around >= begin + a_.pixel) continue;
      const int slot = Layout::slots_on(j);
      const bool inside = from <= slot && slot < to;
#pragma unroll
      for (int i = 0; i < rows; ++i) all[i] = join(all[i], inside ? Layout::at(x, i, j) : none);
    }
    float own = none;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      float joined = all[i];  // as above
#pragma unroll
      for (int flip = 1; flip < Layout::sharers; flip *= 2)
        joined = join(joined, __shfl_xor_sync(0xffffffffu, joined, flip));
      own = tx_ == i ? joined : own;
    }
    return own;
  }

  const SegmentArgs& a_;
  const Layout layout_;
  const int tx_;
  int begin_ = 0, end_ = 0;                              // keys met
  float maximum_ = -INFINITY, sum_ = 0, reference_ = 0;  // of the open segment
};

/// Of attend_mma.cuh: of one or two groups of 16 rows of a warp, of which `row` is this thread's
/// first.
struct MmaSegments {
  using Tracker = SegmentTracker<MmaLayout<kv_tile_keys>>;
  Tracker first, second;

  __device__ MmaSegments(const SegmentArgs& args, int row, int height)
      : first(args, {row, height}), second(args, {row + 16, height}) {}
  __device__ Tracker& operator[](int group) { return group == 0 ? first : second; }
};

/// Without maps.
struct NoSegments {
  __device__ explicit NoSegments(const SegmentArgs&) {}
};

}  // namespace fovea::cuda
