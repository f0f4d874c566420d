// A Pyramid is the means of clusters of 2^level consecutive rows, level by level.
#pragma once

#include <vector>

#include "backend/isa/attend.h"
#include "backend/workers.h"
#include "data/matrix.h"

namespace fovea {

class Pyramid {
 public:
  Pyramid() = default;
  /// Levels 1 .. top: means over the tokens a cluster really has. Every mean is of exact sums of
  /// the level below, weighted by their tokens. One pass over memory; rows are padded.
  Pyramid(MatrixView rows, int top, const isa::Loops& loops, Workers& workers,
          const std::stop_token& stop);

  /// [clusters, cols]; level >= 1.
  MatrixView level(int level) const {
    const auto l = static_cast<std::size_t>(level);
    return means_.view().slice({first_[l - 1], first_[l]});
  }

 private:
  void coarsen(MatrixView rows, int level, IndexRange clusters, const isa::Loops& loops);

  Matrix means_;              // all levels, level 1 first
  std::vector<Index> first_;  // [top + 1] row of each level in means_, and the end
};

}  // namespace fovea
