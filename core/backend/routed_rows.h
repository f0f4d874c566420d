// RoutedRows are a few vectors that descend a tree together.
#pragma once

#include "backend/isa/attend.h"
#include "plan/tree.h"

namespace fovea {

class RoutedRows {
 public:
  static constexpr Index most = 32;  // fit into the L1 cache with the weights that they need

  RoutedRows(MatrixView x, IndexRange rows, const isa::Loops& loops);

  /// leaf[r] becomes the leaf of row r of the range.
  void descend(const Tree& tree, std::int32_t* leaf);

 private:
  void choose_child(const isa::Weights& weights, int branching);

  const isa::Loops& loops_;
  int count_;
  const float* x_[most];
  std::int32_t node_[most] = {};
};

}  // namespace fovea
