// RoutedRows are a few vectors on their way down a tree, side by side.
#pragma once

#include "backend/isa/attend.h"
#include "plan/tree.h"

namespace fovea {

class RoutedRows {
 public:
  static constexpr Index most = 32;  // with the weights they meet they fit into the first cache

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
