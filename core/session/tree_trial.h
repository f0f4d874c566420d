// A TreeTrial tries trees on one head, such as that of a text from which they were not learned.
#pragma once

#include <string>

#include "evaluate/computation.h"
#include "learning/trainer.h"

namespace fovea {

/// What a plan is given to have this tree and its alphas.
Structure tensors_of(const LearnedTree& learned);

/// Why no tree that was learned from heads with d features can be tried on a head, as a clause;
/// empty if one can.
std::string why_not_tried_on(const Problem& problem, Index d);

struct TriedTree {
  double error = 0;  // |Z~ - Z|_F / |Z|_F over all rows of the head; NaN if one is not finite
  double cost = 0;   // multiply-adds over those of exact attention
};

class TreeTrial {
 public:
  /// Computes exact attention and the median tree. `request`: tree attention, of which the height
  /// or the branching and the weights of depths count where none are given. Only for a head on
  /// which trees can be tried. Throws what compute() throws.
  TreeTrial(Problem problem, ComputeRequest request, const Backend& backend, Run& run);

  /// The median tree of the head's own keys.
  const TriedTree& median() const { return median_; }
  /// A tree as tensors_of() has it. Throws what compute() throws.
  TriedTree tried(Structure tree, const Backend& backend, Run& run) const;

 private:
  Problem problem_;
  ComputeRequest request_;
  Matrix exact_;
  TriedTree median_;
};

}  // namespace fovea
