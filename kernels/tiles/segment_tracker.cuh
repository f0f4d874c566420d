// A SegmentTracker collects the segments of a query tile while a block goes through its keys, which
// are in sequence order without gaps. It works on the logits and weights that a thread holds of a
// KV tile, in registers as a Layout says: some rows, which other threads share with their keys. Of
// the threads that share rows, the i-th keeps the open segment of the i-th row.
//
// It needs no shared memory. 8 bytes for every query and column are written once and read once: .5
// ms of an H200's memory bandwidth at n = 131072 and 1024 columns, where the multiply-adds of fp32
// take 66 ms.
#pragma once

#include "tiles/query_tile.cuh"
#include "tiles/segments.h"

namespace fovea::cuda {

/// The layout of attend.cu: thread (tx, ty) has rows ty + 16 i and keys tx + 8 j.
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

/// The layout of tensor cores, for 16 rows of a warp and KV tiles of `Slots` keys: a thread has
/// rows `first` and `first` + 8 and 2 of each 8 keys.
template <int Slots>
struct MmaLayout {
  static constexpr int rows = 2, sharers = 4, slots = Slots, together = 2;
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
      : a_(args), layout_(layout) {}
  __device__ explicit SegmentTracker(const SegmentArgs& args) : SegmentTracker(args, Layout()) {}

  /// Whether a KV tile from key `first` on has all its keys, and they lie in one column.
  __device__ __forceinline__ bool in_one_column(int first, int keys) {
    begin(first);
    return keys == Layout::slots && first + Layout::slots <= column_end_;
  }

  /// In place of take_logits and take_weights for a KV tile whose keys lie in one column: of each
  /// row the largest logit of all threads, and the sum of this thread's weights.
  __device__ __forceinline__ void take_kv_tile(const float (&most)[rows], const float (&sum)[rows],
                                               const float* reference, int first) {
    maximum_ = fmaxf(maximum_, own_of(most));
    add(joined(sum, Sum()), own_of(reference));
    keys_end_ = first + Layout::slots;
    if (keys_end_ < column_end_) return;
    if (keeps()) *found(column_) = make_float2(maximum_, log2_sum());
    maximum_ = -INFINITY;
    next_column();
  }

  /// The logits of a KV tile: keys [first, first + keys) of the sequence, then -inf.
  __device__ __forceinline__ void take_logits(const Values& logits, int first, int keys) {
    begin(first);
    int column = column_;
    const float rest = join_columns(logits, first, keys, -INFINITY, Maximum(), [&](float own) {
      if (keeps()) found(column)->x = fmaxf(maximum_, own);
      maximum_ = -INFINITY;
      ++column;
    });
    maximum_ = fmaxf(maximum_, rest);
  }

  /// The weights of the same logits, then 0: row i's are 2^(logit - reference[i]).
  __device__ __forceinline__ void take_weights(const Values& weights, const float* reference,
                                               int first, int keys) {
    const float own_reference = own_of(reference);
    const float rest = join_columns(weights, first, keys, 0, Sum(), [&](float own) {
      add(own, own_reference);
      if (keeps()) found(column_)->y = log2_sum();
      next_column();
    });
    add(rest, own_reference);
    keys_end_ = first + keys;
  }

  /// There are no more keys.
  __device__ __forceinline__ void finish() {
    const bool open = keys_end_ > column_end_ - a_.pixel && keys_end_ > 0;
    if (open && keeps()) *found(column_) = make_float2(maximum_, log2_sum());
    if (threadIdx.x > 0) return;
    if (keys_end_ == 0) a_.seen[blockIdx.x].x = 0;
    a_.seen[blockIdx.x].y = column_ + (open ? 1 : 0);
  }

 private:
  struct Maximum {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
  };
  struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
  };

  __device__ __forceinline__ void begin(int first) {
    if (column_end_ > 0) return;
    column_ = first / a_.pixel;
    column_end_ = (column_ + 1) * a_.pixel;
    if (threadIdx.x == 0) a_.seen[blockIdx.x].x = column_;
  }

  __device__ __forceinline__ void next_column() {
    ++column_;
    column_end_ += a_.pixel;
    sum_ = 0;
  }

  __device__ bool keeps() const { return layout_.place < rows; }

  __device__ float2* found(int column) const {
    return a_.found +
           (static_cast<std::size_t>(blockIdx.x) * layout_.height() + layout_.row(layout_.place)) *
               a_.columns +
           column;
  }

  // Weights of the open segment: 2^(logit - reference), -inf: no key so far.
  __device__ __forceinline__ void add(float part, float reference) {
    if (reference == -INFINITY) reference = 0;
    sum_ = sum_ == 0 ? part : fmaf(sum_, exp2_fast(reference_ - reference), part);
    reference_ = reference;
  }

  // -inf: no key, also where the reference of the row is infinite.
  __device__ float log2_sum() const {
    return sum_ == 0 ? -INFINITY : __fadd_rn(reference_, log2_fast(sum_));
  }

  // Joins what this thread's row has in each column, calls column_ends(own) for every column that
  // ends in the KV tile, and returns what the open one has of it.
  template <class Join, class ColumnEnds>
  __device__ __forceinline__ float join_columns(const Values& x, int first, int keys, float none,
                                                Join join, ColumnEnds column_ends) const {
    float part[rows];  // of this thread's keys since a column began
    const auto reset = [&] {
#pragma unroll
      for (int i = 0; i < rows; ++i) part[i] = none;
    };
    reset();
    // The slot before which the open column ends; beyond all slots where it has more keys than
    // these.
    const auto end_among_keys = [&](int slot) { return slot <= keys ? slot : Layout::slots + 1; };
    int end_slot = end_among_keys(column_end_ - first);
#pragma unroll
    for (int group = 0; group < Layout::slots / 8; ++group) {
      const int stop = 8 * group + 8;
      if (end_slot > stop) {
        join_slots(part, x, group, join);
        continue;
      }
      for (int from = 8 * group; from < stop;) {
        const int to = min(end_slot, stop);
        join_slots(part, x, group, from, to, none, join);
        if (to == end_slot) {
          column_ends(joined(part, join));
          reset();
          end_slot = end_among_keys(end_slot + a_.pixel);
        }
        from = to;
      }
    }
    return joined(part, join);
  }

  // Joins 8 slots.
  template <class Join>
  __device__ __forceinline__ void join_slots(float (&part)[rows], const Values& x, int group,
                                             Join join) const {
#pragma unroll
    for (int e = 0; e < Layout::together; ++e)
#pragma unroll
      for (int i = 0; i < rows; ++i)
        part[i] = join(part[i], Layout::at(x, i, group * Layout::together + e));
  }

  // Joins those of 8 slots that are in [from, to).
  template <class Join>
  __device__ __forceinline__ void join_slots(float (&part)[rows], const Values& x, int group,
                                             int from, int to, float none, Join join) const {
    from -= layout_.first_slot();
    to -= layout_.first_slot();
#pragma unroll
    for (int e = 0; e < Layout::together; ++e) {
      const int key = group * Layout::together + e, slot = Layout::slots_on(key);
      const bool inside = from <= slot && slot < to;
#pragma unroll
      for (int i = 0; i < rows; ++i) part[i] = join(part[i], inside ? Layout::at(x, i, key) : none);
    }
  }

  // Joins the values that each thread has of its keys into those of all keys of this thread's row.
  // Threads exchange the rows that the other one keeps, in pairs, until each has one.
  template <class Join>
  __device__ __forceinline__ float joined(const float (&its)[rows], Join join) const {
    float left[rows];
#pragma unroll
    for (int i = 0; i < rows; ++i) left[i] = its[i];
#pragma unroll
    for (int flip = 1; flip < Layout::sharers; flip *= 2) {
      const bool odd = layout_.place & flip;
      if (flip < rows) {
#pragma unroll
        for (int i = 0; i < rows / flip / 2; ++i) {
          const float first = left[2 * i], second = left[2 * i + 1], sent = odd ? first : second;
          left[i] = join(odd ? second : first, __shfl_xor_sync(0xffffffffu, sent, flip));
        }
      } else {
        left[0] = join(left[0], __shfl_xor_sync(0xffffffffu, left[0], flip));
      }
    }
    return left[0];
  }

  // That of this thread's row: of several threads that share rows, each has one of them.
  __device__ __forceinline__ float own_of(const float* values) const {
    float own = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const float its = values[i];  // copied: indexed by place, the array would be in memory
      own = layout_.place % rows == i ? its : own;
    }
    return own;
  }

  const SegmentArgs& a_;
  const Layout layout_;
  int column_ = 0;                     // the open one
  int column_end_ = 0, keys_end_ = 0;  // the keys after it, and after the last one that was met
  float maximum_ = -INFINITY, sum_ = 0, reference_ = 0;  // of the open segment
};

/// The segments of attend_mma.cuh, for one or two groups of 16 rows of a warp; `row` is this
/// thread's first.
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
