#include "backend/pyramid.h"

#include "plan/plan.h"

namespace fovea {
namespace {

// Tokens that one turn takes through all levels within them, while they are in the cache.
constexpr int turn_levels = 9;

IndexRange part_of(IndexRange tokens, int level, Index n) {
  return {tokens.begin >> level, clusters(std::min(tokens.end, n), level)};
}

}  // namespace

Pyramid::Pyramid(MatrixView rows, int top, const isa::Loops& loops, Workers& workers,
                 const std::stop_token& stop)
    : first_{0} {
  if (top == 0) return;
  for (int level = 1; level <= top; ++level)
    first_.push_back(first_.back() + clusters(rows.rows, level));
  means_ = Matrix::uninitialised(first_.back(), rows.cols);
  const int low = std::min(top, turn_levels);
  workers.loop(clusters(rows.rows, turn_levels), stop, [&](Index turn, int) {
    const IndexRange tokens{turn << turn_levels, (turn + 1) << turn_levels};
    for (int level = 1; level <= low; ++level)
      coarsen(rows, level, part_of(tokens, level, rows.rows), loops);
  });
  for (int level = low + 1; level <= top; ++level)
    coarsen(rows, level, {0, clusters(rows.rows, level)}, loops);
}

void Pyramid::coarsen(MatrixView rows, int l, IndexRange range, const isa::Loops& loops) {
  const MatrixView below = l == 1 ? rows : level(l - 1);
  const Index stride = means_.stride();
  float* mean = means_.row(first_[static_cast<std::size_t>(l) - 1] + range.begin);
  for (Index c = range.begin; c < range.end; ++c, mean += stride) {
    const Index left = cluster_tokens(2 * c, l - 1, rows.rows).size();
    const Index right =
        2 * c + 1 < below.rows ? cluster_tokens(2 * c + 1, l - 1, rows.rows).size() : 0;
    const float* a = below.row(2 * c);
    const float* b = right > 0 ? below.row(2 * c + 1) : a;
    const float share = static_cast<float>(right) / static_cast<float>(left + right);
    loops.blend(a, b, share, static_cast<int>(below.cols), mean);
    std::fill(mean + below.cols, mean + stride, 0.0f);
  }
}

}  // namespace fovea
