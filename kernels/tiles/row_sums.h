// RowSums are what entries of P are divided by, in fp32: found when first asked for, and where the
// plan allows only for the rows asked for.
#pragma once

#include <vector>

#include "device/entry_rows.h"
#include "tiles/sweep.h"

namespace fovea::cuda {

class RowSums {
 public:
  /// `bound` outlives this.
  explicit RowSums(const BoundList& bound);

  /// log2 of the softmax sums: [n] on the device, good for `rows`.
  const float* of(const EntryRows& rows, Run& run);

  /// Another sweep in fp32 found those of these rows: all of them, or some of a dense list.
  void keep(IndexRange rows, Sweep swept);

 private:
  EntryRows unknown_of(const EntryRows& rows) const;
  void find_all(Run& run);
  void find(const EntryRows& rows, Run& run);
  void make_states();
  void finish_all();
  void note(IndexRange rows);

  const BoundList& bound_;
  const bool dense_;
  Buffer<float> log2_sum_;       // [n]
  Buffer<float> maximum_, sum_;  // [n], of a dense list while some are unknown; sum 0: unknown
  std::vector<bool> known_;      // [n]
  Index unknown_;
};

}  // namespace fovea::cuda
