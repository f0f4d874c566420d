// The pairs of a plan one by one, as its Support tells them: for brute force.
#pragma once

#include <algorithm>

#include "analysis/support.h"

namespace fovea::test {

/// The key level of the pass that owns each pair, -1 where none does.
inline Matrix level_owner(const Plan& plan, IndexRange rows, IndexRange cols) {
  const Support support(plan);
  Matrix owner(rows.size(), cols.size(), -1.0f);
  for (Index i = rows.begin; i < rows.end; ++i)
    support.for_parts(i, cols, [&](const Support::Part& part) {
      std::fill_n(owner.row(i - rows.begin) + part.keys.begin - cols.begin, part.keys.size(),
                  static_cast<float>(part.pass->key_level));
    });
  return owner;
}

/// 1 where the plan gives pair (i, j) weight, else 0.
inline Matrix element_mask(const Plan& plan, IndexRange rows, IndexRange cols) {
  Matrix mask = level_owner(plan, rows, cols);
  for (Index i = 0; i < mask.rows(); ++i)
    for (Index j = 0; j < mask.cols(); ++j) mask(i, j) = mask(i, j) < 0 ? 0.0f : 1.0f;
  return mask;
}

}  // namespace fovea::test
