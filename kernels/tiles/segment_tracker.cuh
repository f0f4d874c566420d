// A SegmentTracker collects the segments of a strip while a block goes through its keys, which are
// in sequence order without gaps. Of the eight threads that share RowsPerThread rows, thread tx
// keeps the open segment of row ty + 16 tx.
//
// Its cost, counted, not measured: with strips of 128 queries and columns of 64 keys or more some
// 500 instructions per thread and step, beside 8192 multiply-adds at d = dv = 64, and some 250 for
// every narrower column; no shared memory; at dv = 64 no more registers than without it. In
// addition 8 bytes for every query and column are written once and read once: .5 ms of an H200's
// memory bandwidth at n = 131072 and 1024 columns, where the multiply-adds take 66 ms.
#pragma once

#include "tiles/segments.h"
#include "tiles/strip.cuh"

namespace fovea::cuda {

template <int RowsPerThread>
class SegmentTracker {
  using Step = float[RowsPerThread][keys_per_thread];

 public:
  __device__ explicit SegmentTracker(const SegmentArgs& args)
      : a_(args), tx_(static_cast<int>(threadIdx.x) % key_threads) {}

  /// The logits of a step: keys [first, first + keys) of the sequence, then -inf.
  __device__ __forceinline__ void take_logits(const Step& s, int first, int keys) {
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
  __device__ __forceinline__ void take_weights(const Step& weights,
                                               const float (&reference)[RowsPerThread], int first,
                                               int keys) {
    float own = 0;
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
      const float its = reference[i];  // copied first: indexed by tx_, the array would be in memory
      own = tx_ == i ? its : own;
    }
    if (own == -INFINITY) own = 0;  // no key so far
    end_ = first + keys;
    for (int column = first / a_.pixel; column * a_.pixel < end_; ++column) {
      const float part =
          own_of(weights, column * a_.pixel - first, 0.0f, [](float a, float b) { return a + b; });
      sum_ = sum_ == 0 ? part : fmaf(sum_, exp2_fast(reference_ - own), part);
      reference_ = own;
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
    return tx_ < RowsPerThread;
  }

  __device__ float2* found(int column) const {
    const int row = static_cast<int>(threadIdx.x) / key_threads + row_threads * tx_;
    return a_.found +
           (static_cast<std::size_t>(blockIdx.x) * (row_threads * RowsPerThread) + row) *
               a_.columns +
           column;
  }

  __device__ float log2_sum() const {
    return sum_ == 0 ? -INFINITY : __fadd_rn(reference_, log2f(sum_));
  }

  // For the row of this thread: x joined over the slots [begin, begin + pixel).
  template <class Join>
  __device__ __forceinline__ float own_of(const Step& x, int begin, float none, Join join) const {
    float all[RowsPerThread];
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) all[i] = none;
#pragma unroll
    for (int j = 0; j < keys_per_thread; ++j) {
      // The thread has no key in this segment: columns may be narrow.
      if (key_threads * (j + 1) <= begin || key_threads * j >= begin + a_.pixel) continue;
      const int slot = tx_ + key_threads * j;
      const bool inside = begin <= slot && slot < begin + a_.pixel;
#pragma unroll
      for (int i = 0; i < RowsPerThread; ++i) all[i] = join(all[i], inside ? x[i][j] : none);
    }
    float own = none;
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
      float joined = all[i];  // as above
#pragma unroll
      for (int flip = 1; flip < key_threads; flip *= 2)
        joined = join(joined, __shfl_xor_sync(0xffffffffu, joined, flip));
      own = tx_ == i ? joined : own;
    }
    return own;
  }

  const SegmentArgs& a_;
  const int tx_;
  int begin_ = 0, end_ = 0;                              // keys met
  float maximum_ = -INFINITY, sum_ = 0, reference_ = 0;  // of the open segment
};

/// Without maps.
struct NoSegments {
  __device__ explicit NoSegments(const SegmentArgs&) {}
};

}  // namespace fovea::cuda
