// A Pyramid is the means of clusters of 2^level consecutive rows, level by level: means over the
// tokens that a cluster has (the last may have fewer), each made from two means of the level below.
#pragma once

#include <vector>

#include "backend/isa/attend.h"
#include "backend/workers.h"
#include "data/matrix.h"

namespace fovea {

/// Borrowed rows of consecutive clusters from `first` on.
struct ClusterRows {
  const float* data = nullptr;
  Index first = 0, stride = 0;

  ClusterRows() = default;
  ClusterRows(const float* rows, Index first_row, Index row_stride)
      : data(rows), first(first_row), stride(row_stride) {}
  explicit ClusterRows(MatrixView tokens) : data(tokens.data), stride(tokens.stride) {}
  const float* row(Index cluster) const { return data + (cluster - first) * stride; }
};

/// Clusters of the levels 1 .. top of n tokens.
double clusters_above(Index n, int top);

/// Levels 1 .. top of a few tokens: small enough for the cache, and for one thread to make again.
class PyramidPart {
 public:
  PyramidPart(Index most_tokens, int top, Index cols);

  /// `tokens` begin at a multiple of 2^top, and end at one or at the last row.
  void make(MatrixView rows, IndexRange tokens, const isa::Loops& loops);
  ClusterRows level(int level) const;

 private:
  int top_;
  IndexRange tokens_;
  std::vector<Matrix> means_;  // [l - 1] level l
};

/// Levels low .. top of all tokens, low >= 1.
class Pyramid {
 public:
  Pyramid() = default;
  /// One pass over memory. Rows are padded.
  Pyramid(MatrixView rows, int low, int top, const isa::Loops& loops, Workers& workers,
          const std::stop_token& stop);

  ClusterRows level(int level) const {
    return {means_.row(first_[level - low_]), 0, means_.stride()};
  }
  int low() const { return low_; }

 private:
  void coarsen(int level, ClusterRows below, IndexRange clusters, Index n, const isa::Loops& loops);

  int low_ = 1;
  Matrix means_;              // all levels, the lowest first
  std::vector<Index> first_;  // row of each level in means_, and the end
};

}  // namespace fovea
