#include "backend/pyramid.h"

namespace fovea {
namespace {

// Clusters that one turn of the loop makes.
constexpr Index clusters_per_turn = 256;

Matrix coarsen(MatrixView below, int level, Index n, Workers& workers, std::stop_token stop) {
  const Index count = clusters(n, level);
  Matrix means = Matrix::uninitialised(count, below.cols);
  const Index turns = (count + clusters_per_turn - 1) / clusters_per_turn;
  workers.loop(turns, stop, [&](Index turn, int) {
    const Index end = std::min(count, (turn + 1) * clusters_per_turn);
    for (Index c = turn * clusters_per_turn; c < end; ++c) {
      const Index left = cluster_tokens(2 * c, level - 1, n).size();
      const Index right =
          2 * c + 1 < below.rows ? cluster_tokens(2 * c + 1, level - 1, n).size() : 0;
      const float share = static_cast<float>(right) / static_cast<float>(left + right);
      const float* a = below.row(2 * c);
      const float* b = right > 0 ? below.row(2 * c + 1) : a;
      float* mean = means.row(c);
      for (Index x = 0; x < below.cols; ++x) mean[x] = a[x] * (1.0f - share) + b[x] * share;
      std::fill(mean + below.cols, mean + means.stride(), 0.0f);
    }
  });
  return means;
}

}  // namespace

std::vector<Matrix> mean_pyramid(MatrixView rows, int top, Workers& workers, std::stop_token stop) {
  std::vector<Matrix> levels;
  for (int level = 1; level <= top; ++level)
    levels.push_back(
        coarsen(level == 1 ? rows : levels.back().view(), level, rows.rows, workers, stop));
  return levels;
}

}  // namespace fovea
