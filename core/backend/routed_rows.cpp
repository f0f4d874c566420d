#include "backend/routed_rows.h"

namespace fovea {

RoutedRows::RoutedRows(MatrixView x, IndexRange rows, const isa::Loops& loops)
    : loops_(loops), count_(static_cast<int>(rows.size())), d_(static_cast<int>(x.cols)) {
  for (int r = 0; r < count_; ++r) x_[r] = x.row(rows.begin + r);
}

void RoutedRows::descend(const Tree& tree, std::int32_t* leaf) {
  for (const TreeLevel& level : tree.levels)
    if (level.by_sign)
      choose_side(level);
    else
      choose_child(level);
  for (int r = 0; r < count_; ++r) leaf[r] = static_cast<std::int32_t>(node_[r]);
}

void RoutedRows::score(const TreeLevel& level, Index rows_of_node, Index offset) {
  for (int r = 0; r < count_; ++r) weight_[r] = level.weight.row(rows_of_node * node_[r] + offset);
  loops_.dot_pairs(x_, weight_, count_, d_, score_);
  for (int r = 0; r < count_; ++r)
    score_[r] += level.bias[static_cast<std::size_t>(rows_of_node * node_[r] + offset)];
}

void RoutedRows::choose_side(const TreeLevel& level) {
  score(level, 1, 0);
  for (int r = 0; r < count_; ++r) node_[r] = 2 * node_[r] + (score_[r] >= 0);
}

void RoutedRows::choose_child(const TreeLevel& level) {
  float top[most];
  Index best[most] = {};
  for (Index child = 0; child < level.branching; ++child) {
    score(level, level.branching, child);
    for (int r = 0; r < count_; ++r)
      if (child == 0 || score_[r] > top[r]) {
        top[r] = score_[r];
        best[r] = child;
      }
  }
  for (int r = 0; r < count_; ++r) node_[r] = node_[r] * level.branching + best[r];
}

}  // namespace fovea
