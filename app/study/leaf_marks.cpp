#include "study/leaf_marks.h"

#include <algorithm>

#include "plan/leaves.h"

namespace fovea {

void LeafMarks::choose(const ChosenLeaves& leaves) {
  const bool none = leaves.leaves.size() <= 0 || chosen_ == leaves;
  chosen_.reset();
  if (!none) chosen_ = leaves;
  marked_.reset();
  update();
}

void LeafMarks::continue_columns(const std::vector<int>& from) {
  if (!chosen_) return;
  const auto it = std::ranges::find(from, chosen_->column);
  if (it == from.end())
    choose({});
  else
    chosen_->column = static_cast<int>(it - from.begin());
}

std::shared_ptr<const Computation> LeafMarks::computation_of(int column) const {
  const auto& columns = results_.columns();
  const auto c = static_cast<std::size_t>(column);
  return column >= 0 && c < columns.size() ? columns[c].computation : nullptr;
}

void LeafMarks::update() {
  const auto computation = chosen_ ? computation_of(chosen_->column) : nullptr;
  if (computation && computation == marked_) return;
  marked_ = computation;
  queries_.clear();
  keys_.clear();
  if (!computation) return;
  const auto leaves = leaves_of(computation->op->plan());
  if (!leaves) return;
  queries_ = tokens_in(leaves->queries, chosen_->leaves);
  keys_ = tokens_in(leaves->keys, chosen_->leaves);
}

Index LeafMarks::leaf_count(int column) const {
  const auto computation = computation_of(column);
  const auto leaves = computation ? leaves_of(computation->op->plan()) : std::nullopt;
  return leaves ? leaves->count : 0;
}

}  // namespace fovea
