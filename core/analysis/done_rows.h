// DoneRows keeps track of which rows of a long piece of work are done, and chooses the next ones.
#pragma once

#include <vector>

#include "data/matrix.h"

namespace fovea {

class DoneRows {
 public:
  explicit DoneRows(Index rows = 0) : done_(rows, false) {}

  Index rows() const { return std::ssize(done_); }
  bool has(Index row) const { return done_[row]; }
  bool all() const { return count_ == rows(); }
  double share() const { return static_cast<double>(count_) / static_cast<double>(rows()); }

  void add(IndexRange rows);
  /// Up to `most` consecutive rows that are not done, from the one nearest to `focus` outwards;
  /// empty if all are done.
  IndexRange next(Index focus, Index most) const;

 private:
  std::vector<bool> done_;
  Index count_ = 0;
};

}  // namespace fovea
