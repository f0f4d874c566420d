// A TreeLearning computes a column whose tree is learned: first it learns, in pieces that other
// requests may run between, then it computes the column with the tree.
#pragma once

#include <memory>

#include "evaluate/computation.h"
#include "learning/trainer.h"
#include "session/session.h"

namespace fovea {

/// Whether the tree of a column is one that is learned for its head.
bool learns_tree(const Column& column);

class TreeLearning {
 public:
  TreeLearning(std::shared_ptr<const Problem> problem, Column column);

  /// Learns for some 100 ms, or computes; false once the result is there.
  bool advance(const Backend& backend, Run& run);
  const std::shared_ptr<const Computation>& result() const { return result_; }

 private:
  void begin(const Backend& backend, Run& run);
  void compute_column(const Backend& backend, Run& run);

  std::shared_ptr<const Problem> problem_;
  Column column_;
  Index steps_ = 0;
  std::unique_ptr<Trainer> trainer_;  // null: not begun, or nothing can be learned
  double spent_ms_ = 0;
  std::shared_ptr<const Computation> result_;
};

}  // namespace fovea
