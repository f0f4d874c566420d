#include "study/leaf_marks.h"

#include <algorithm>

#include "plan/leaves.h"

namespace fovea {
namespace {

std::vector<Index> members(std::span<const std::int32_t> leaf_of, IndexRange leaves) {
  std::vector<Index> tokens;
  for (std::size_t i = 0; i < leaf_of.size(); ++i)
    if (leaves.contains(leaf_of[i])) tokens.push_back(static_cast<Index>(i));
  return tokens;
}

}  // namespace

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

void LeafMarks::update() {
  const auto& columns = results_.columns();
  const auto column = static_cast<std::size_t>(chosen_ ? chosen_->column : 0);
  const auto computation =
      chosen_ && column < columns.size() ? columns[column].computation : nullptr;
  if (computation && computation == marked_) return;
  marked_ = computation;
  queries_.clear();
  keys_.clear();
  if (!computation) return;
  const auto leaves = leaves_of(computation->op->plan());
  if (!leaves) return;
  queries_ = members(leaves->queries, chosen_->leaves);
  keys_ = members(leaves->keys, chosen_->leaves);
}

Index leaf_count(const Plan& plan) {
  const auto leaves = leaves_of(plan);
  if (!leaves) return 0;
  return Index{std::max(std::ranges::max(leaves->queries), std::ranges::max(leaves->keys))} + 1;
}

}  // namespace fovea
