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
  void choose_side(const TreeLevel& level);
  void choose_child(const TreeLevel& level);
  /// dots_ = x . the weights of row `rows_of_node * node + offset`, plus their bias.
  void score(const TreeLevel& level, Index rows_of_node, Index offset);

  const isa::Loops& loops_;
  int count_, d_;
  const float* x_[most];
  const float* weight_[most] = {};
  float score_[most] = {};
  Index node_[most] = {};
};

}  // namespace fovea
