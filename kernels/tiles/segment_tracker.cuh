// A SegmentTracker collects the segments of a query tile while a block goes through its keys, which
// are in sequence order without gaps. It works on the weights that a thread holds of a KV tile, in
// registers as a Layout says: some rows, which other threads share with their keys. Of the threads
// that share rows, the i-th keeps the open segment of the i-th row: the largest weight and the sum.
//
// Its cost for a thread and a KV tile of 128 keys on tensor cores, counted, not measured: some 250
// instructions, and 70 for every column that ends in the KV tile; 84 where the KV tile lies in one
// column, since the kernels have found the largest logit and the sum of its weights anyway. No
// shared memory. In addition 8 bytes for every query and column are written once and read once: .5
// ms of an H200's memory bandwidth at n = 131072 and 1024 columns, where the multiply-adds of fp32
// take 66 ms.
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

  /// The weights of a KV tile: keys [first, first + keys) of the sequence, then weights of 0. Row
  /// i's are 2^(logit - reference[i]).
  __device__ __forceinline__ void take(const Values& weights, const float* reference, int first,
                                       int keys) {
    begin(first);
    const float own_reference = own_of(reference);
    Part part;
    int edge = edge_among(keys, edge_ - first);
#pragma unroll
    for (int group = 0; group < Layout::slots / 8; ++group) {
      const int stop = 8 * group + 8;
      if (edge > stop) {
        join(part, weights, group);
        continue;
      }
      for (int from = 8 * group; from < stop;) {
        const int to = min(edge, stop);
        join(part, weights, group, from, to);
        if (to == edge) {
          add(part, own_reference);
          write();
          part = {};
          edge = edge_among(keys, edge + a_.pixel);
        }
        from = to;
      }
    }
    add(part, own_reference);
    end_ = first + keys;
  }

  /// Whether a KV tile from key `first` on has all its keys, and they lie in one column.
  __device__ __forceinline__ bool in_one_column(int first, int keys) {
    begin(first);
    return keys == Layout::slots && first + Layout::slots <= edge_;
  }

  /// In place of `take` for a KV tile whose keys lie in one column: of each row the largest logit
  /// and the sum of this thread's weights.
  __device__ __forceinline__ void take_whole(const float (&most)[rows], const float (&sum)[rows],
                                             const float* reference, int first) {
    const float own_reference = own_of(reference), own_most = own_of(most);
    add(own_most == -INFINITY ? 0.0f : exp2_fast(own_most - own_reference),
        joined(sum, [](float a, float b) { return a + b; }), own_reference);
    end_ = first + Layout::slots;
    if (end_ == edge_) write();
  }

  /// There are no more keys.
  __device__ __forceinline__ void finish() {
    if (end_ > edge_ - a_.pixel && end_ > 0) write();
    if (threadIdx.x == 0) a_.seen[blockIdx.x].y = column_;
  }

 private:
  // Of this thread's keys since a column began.
  struct Part {
    float most[rows] = {}, sum[rows] = {};
  };

  __device__ __forceinline__ void begin(int first) {
    if (edge_ > 0) return;
    column_ = first / a_.pixel;
    edge_ = (column_ + 1) * a_.pixel;
    if (threadIdx.x == 0) a_.seen[blockIdx.x].x = column_;
  }

  // The slot before which the open column ends, and the next one begins; far away where the keys of
  // the KV tile end before that.
  __device__ __forceinline__ static int edge_among(int keys, int edge) {
    return edge <= keys ? edge : Layout::slots + 1;
  }

  // Joins 8 keys.
  __device__ __forceinline__ void join(Part& part, const Values& weights, int group) const {
#pragma unroll
    for (int e = 0; e < Layout::together; ++e)
#pragma unroll
      for (int i = 0; i < rows; ++i)
        join(part, i, Layout::at(weights, i, group * Layout::together + e));
  }

  // Joins those of 8 keys that lie in slots [from, to).
  __device__ __forceinline__ void join(Part& part, const Values& weights, int group, int from,
                                       int to) const {
    from -= layout_.first_slot();
    to -= layout_.first_slot();
#pragma unroll
    for (int e = 0; e < Layout::together; ++e) {
      const int key = group * Layout::together + e, slot = Layout::slots_on(key);
      const bool inside = from <= slot && slot < to;
#pragma unroll
      for (int i = 0; i < rows; ++i) join(part, i, inside ? Layout::at(weights, i, key) : 0.0f);
    }
  }

  __device__ __forceinline__ static void join(Part& part, int i, float weight) {
    part.most[i] = fmaxf(part.most[i], weight);
    part.sum[i] += weight;
  }

  __device__ __forceinline__ void add(const Part& part, float reference) {
    add(joined(part.most, [](float a, float b) { return fmaxf(a, b); }),
        joined(part.sum, [](float a, float b) { return a + b; }), reference);
  }

  // Of the open segment: weights are 2^(logit - reference), -inf: no key so far.
  __device__ __forceinline__ void add(float most, float sum, float reference) {
    if (reference == -INFINITY) reference = 0;
    const float factor = sum_ == 0 ? 0.0f : exp2_fast(reference_ - reference);
    most_ = fmaxf(most_ * factor, most);
    sum_ = fmaf(sum_, factor, sum);
    reference_ = reference;
  }

  // Writes the open segment, and opens the next one.
  __device__ __forceinline__ void write() {
    if (layout_.place < rows)
      a_.found[(static_cast<std::size_t>(blockIdx.x) * layout_.height() +
                layout_.row(layout_.place)) *
                   a_.columns +
               column_] = make_float2(log2_of(most_), log2_of(sum_));
    ++column_;
    edge_ += a_.pixel;
    most_ = sum_ = 0;
  }

  __device__ float log2_of(float weight) const {
    return __fadd_rn(reference_, log2_fast(weight));
  }

  // Of values that each thread has of its keys: those of all keys of this thread's row. Threads
  // exchange the rows that the other one keeps, in pairs, until each has one.
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
  int column_ = 0, edge_ = 0, end_ = 0;       // the open one, the key after it; keys met
  float most_ = 0, sum_ = 0, reference_ = 0;  // of the open segment
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
