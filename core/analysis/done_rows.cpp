#include "analysis/done_rows.h"

#include <algorithm>
#include <cstdlib>

namespace fovea {

void DoneRows::add(IndexRange rows) {
  for (Index row = rows.begin; row < rows.end; ++row) {
    count_ += !has(row);
    done_[row] = true;
  }
}

IndexRange DoneRows::next(Index focus, Index most) const {
  if (all()) return {};
  focus = std::clamp<Index>(focus, 0, rows() - 1);
  const auto open = [this](Index row) { return row >= 0 && row < rows() && !has(row); };
  Index away = 0;
  while (!open(focus + away) && !open(focus - away)) ++away;
  const Index nearest = open(focus + away) ? focus + away : focus - away;
  const Index step = nearest < focus ? -1 : 1;
  Index last = nearest;
  while (std::abs(last + step - nearest) < most && open(last + step)) last += step;
  return {std::min(nearest, last), std::max(nearest, last) + 1};
}

}  // namespace fovea
