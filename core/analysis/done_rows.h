// DoneRows remembers which rows of a long piece of work are done, and says what comes next.
#pragma once

#include <vector>

#include "data/matrix.h"

namespace fovea {

class DoneRows {
 public:
  explicit DoneRows(Index rows = 0) : done_(static_cast<std::size_t>(rows), false) {}

  Index rows() const { return static_cast<Index>(done_.size()); }
  bool has(Index row) const { return done_[static_cast<std::size_t>(row)]; }
  bool all() const { return count_ == rows(); }
  double share() const { return static_cast<double>(count_) / static_cast<double>(rows()); }

  void add(IndexRange rows);
  /// Up to `most` rows that are not done, one after another: the nearest to `focus` and on, away
  /// from it; empty: all are done.
  IndexRange next(Index focus, Index most) const;

 private:
  std::vector<bool> done_;
  Index count_ = 0;
};

}  // namespace fovea
