// RoutedRows are a few vectors that descend a tree together.
#pragma once

#include "backend/isa/attend.h"
#include "plan/tree.h"

namespace fovea {

class RoutedRows {
 public:
  static constexpr Index most = 32;  // with the weights they need, they fit into the L1 cache

  RoutedRows(MatrixView x, IndexRange rows, const isa::Loops& loops);

  /// leaf[r]: of row r of the range.
  void descend(const Tree& tree, std::int32_t* leaf);

 private:
  void choose_child(const isa::Weights& weights, int branching);

  const isa::Loops& loops_;
  int count_;
  const float* x_[most];
  std::int32_t node_[most] = {};
};

}  // namespace fovea
