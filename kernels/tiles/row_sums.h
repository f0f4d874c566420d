// RowSums are what entries of P are divided by, in fp32. They are found when they are first needed,
// with a dense plan only for the rows that are needed.
#pragma once

#include <vector>

#include "device/entry_rows.h"
#include "tiles/sweep.h"

namespace fovea::cuda {

class RowSums {
 public:
  /// `bound` outlives this.
  explicit RowSums(const BoundList& bound);

  /// What rows are divided by instead of their own sums: log2 of it, [nq].
  void set_all(const std::vector<float>& log2_sums);

  /// How many of these rows have no sum yet.
  Index unknown_of(const EntryRows& rows) const;

  /// log2 of the softmax sums: [nq] on the device, valid for `rows`.
  const float* of(const EntryRows& rows, Run& run);

  /// Keeps the sums that another sweep in fp32 found: of all rows, or of some of a dense list.
  void keep(IndexRange rows, Sweep swept);

 private:
  EntryRows unknown_rows(const EntryRows& rows) const;
  void find_all(Run& run);
  void find(const EntryRows& rows, Run& run);
  /// With rows for `more` states than those of the queries.
  void make_states(Index more = 0);
  void copy(const float* from, float* to, std::size_t count) const;
  void finish_all();
  void note(IndexRange rows);

  const BoundList& bound_;
  const bool dense_;
  Buffer<float> log2_sum_;  // [nq]
  // [nq or more], of a dense list while some are unknown; sum 0: unknown.
  Buffer<float> maximum_, sum_;
  std::vector<bool> known_;  // [nq]
  Index unknown_;
};

}  // namespace fovea::cuda
