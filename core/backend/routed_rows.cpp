#include "backend/routed_rows.h"

#include <algorithm>

namespace fovea {

RoutedRows::RoutedRows(MatrixView x, IndexRange rows, const isa::Loops& loops)
    : loops_(loops), count_(static_cast<int>(rows.size())) {
  for (int r = 0; r < count_; ++r) x_[r] = x.row(rows.begin + r);
}

void RoutedRows::descend(const Tree& tree, std::int32_t* leaf) {
  for (const TreeLevel& level : tree.levels) {
    const isa::Weights weights{level.weight.data(), level.weight.stride(), level.bias.data(),
                               static_cast<int>(level.weight.cols())};
    if (level.by_sign)
      loops_.choose_side(weights, x_, count_, node_);
    else
      choose_child(weights, level.branching);
  }
  std::copy_n(node_, count_, leaf);
}

void RoutedRows::choose_child(const isa::Weights& weights, int branching) {
  float top[most], score[most];
  std::int32_t row[most], best[most];
  for (int child = 0; child < branching; ++child) {
    for (int r = 0; r < count_; ++r) row[r] = node_[r] * branching + child;
    loops_.score(weights, x_, row, count_, score);
    for (int r = 0; r < count_; ++r)
      if (child == 0 || score[r] > top[r]) {
        top[r] = score[r];
        best[r] = row[r];
      }
  }
  std::copy_n(best, count_, node_);
}

}  // namespace fovea
