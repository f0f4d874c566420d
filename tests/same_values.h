// Whether two matrices are the same, bit for bit.
#pragma once

#include <algorithm>

#include "data/matrix.h"

namespace fovea::test {

inline bool same_values(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Index i = 0; i < a.rows(); ++i)
    if (!std::equal(a.row(i), a.row(i) + a.cols(), b.row(i))) return false;
  return true;
}

}  // namespace fovea::test
