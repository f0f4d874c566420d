#include "backend/pyramid.h"

#include "plan/plan.h"

namespace fovea {
namespace {

// log2 of the tokens of one turn, which goes through all levels within them while they are in the
// cache.
constexpr int turn_levels = 9;

IndexRange part_of(IndexRange tokens, int level) {
  return {tokens.begin >> level, clusters(tokens.end, level)};
}

// Means of `level` for a range of its clusters, from those of the level below, to rows from `out`
// on.
void coarsen_rows(ClusterRows below, int level, IndexRange range, Index n, Index cols, float* out,
                  Index stride, const isa::Loops& loops) {
  const Index count_below = clusters(n, level - 1);
  for (Index c = range.begin; c < range.end; ++c, out += stride) {
    const Index left = cluster_tokens(2 * c, level - 1, n).size();
    const Index right =
        2 * c + 1 < count_below ? cluster_tokens(2 * c + 1, level - 1, n).size() : 0;
    const float* a = below.row(2 * c);
    const float* b = right > 0 ? below.row(2 * c + 1) : a;
    loops.blend(a, b, static_cast<float>(right) / static_cast<float>(left + right),
                static_cast<int>(cols), out);
    std::fill(out + cols, out + stride, 0.0f);
  }
}

}  // namespace

double clusters_above(Index n, int top) {
  double sum = 0;
  for (int level = 1; level <= top; ++level) sum += static_cast<double>(clusters(n, level));
  return sum;
}

PyramidPart::PyramidPart(Index most_tokens, int top, Index cols) : top_(top) {
  for (int level = 1; level <= top; ++level)
    means_.push_back(Matrix::uninitialised(clusters(most_tokens, level), cols));
}

void PyramidPart::make(MatrixView rows, IndexRange tokens, const isa::Loops& loops) {
  tokens_ = tokens;
  for (int l = 1; l <= top_; ++l) {
    Matrix& means = means_[l - 1];
    coarsen_rows(l == 1 ? ClusterRows(rows) : level(l - 1), l, part_of(tokens, l), rows.rows,
                 rows.cols, means.data(), means.stride(), loops);
  }
}

ClusterRows PyramidPart::level(int level) const {
  const Matrix& means = means_[level - 1];
  return {means.data(), tokens_.begin >> level, means.stride()};
}

Pyramid::Pyramid(MatrixView rows, int low, int top, const isa::Loops& loops, Workers& workers,
                 const std::stop_token& stop)
    : low_(low), first_{0} {
  const Index n = rows.rows;
  for (int level = low; level <= top; ++level) first_.push_back(first_.back() + clusters(n, level));
  if (top < low) return;
  means_ = Matrix::uninitialised(first_.back(), rows.cols);
  const auto below = [&](int l, const PyramidPart& part) {
    return l == 1 ? ClusterRows(rows) : l == low ? part.level(l - 1) : level(l - 1);
  };
  std::vector<PyramidPart> parts(workers.threads(),
                                 PyramidPart(Index{1} << turn_levels, low - 1, rows.cols));
  const int last = std::min(top, turn_levels);
  workers.loop(clusters(n, turn_levels), stop, [&](Index turn, int worker) {
    PyramidPart& part = parts[worker];
    const IndexRange tokens = cluster_tokens(turn, turn_levels, n);
    part.make(rows, tokens, loops);
    for (int l = low; l <= last; ++l) coarsen(l, below(l, part), part_of(tokens, l), n, loops);
  });
  for (int l = last + 1; l <= top; ++l) coarsen(l, level(l - 1), {0, clusters(n, l)}, n, loops);
}

void Pyramid::coarsen(int l, ClusterRows below, IndexRange range, Index n,
                      const isa::Loops& loops) {
  float* out = means_.row(first_[l - low_] + range.begin);
  coarsen_rows(below, l, range, n, means_.cols(), out, means_.stride(), loops);
}

}  // namespace fovea
