// An AttendedRow is one row of exact attention in double, computed by itself: a few rows tell what
// a result is not.
#pragma once

#include <limits>
#include <vector>

#include "data/problem.h"

namespace fovea {

struct AttendedRow {
  std::vector<double> z;
  double spread = 0;  // sum of p_j |v_j|
  double lse = -std::numeric_limits<double>::infinity();
  bool any = false;  // the query has keys
};

AttendedRow attend(const Problem& head, Index i);
/// Attends `keys` alone; a sink counts as well.
AttendedRow attend(const Problem& head, Index i, IndexRange keys);

/// `count` rows from the first to the last, evenly apart; all if there are not as many.
std::vector<Index> spread_rows(Index rows, Index count);

}  // namespace fovea
