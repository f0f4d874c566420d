#include "study/leaf_marks.h"

#include <algorithm>

namespace fovea {
namespace {

/// Each token's leaf, or its bucket where there is no tree.
const std::vector<std::int32_t>& leaf_of_queries(const Plan& plan) {
  if (const auto* nodes = std::get_if<NodePlan>(&plan.form)) return nodes->query_leaf;
  const Structure& s = plan.structure;
  return s.query_leaf.empty() ? s.query_bucket : s.query_leaf;
}
const std::vector<std::int32_t>& leaf_of_keys(const Plan& plan) {
  if (const auto* nodes = std::get_if<NodePlan>(&plan.form)) return nodes->key_leaf;
  const Structure& s = plan.structure;
  return s.key_leaf.empty() ? s.key_bucket : s.key_leaf;
}

std::vector<Index> members(const std::vector<std::int32_t>& leaf_of, IndexRange leaves) {
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
  const Plan& plan = computation->op->plan();
  queries_ = members(leaf_of_queries(plan), chosen_->leaves);
  keys_ = members(leaf_of_keys(plan), chosen_->leaves);
}

Index leaf_count(const Plan& plan) {
  std::int32_t last = -1;
  for (const auto* leaf_of : {&leaf_of_queries(plan), &leaf_of_keys(plan)})
    for (const std::int32_t leaf : *leaf_of) last = std::max(last, leaf);
  return last + 1;
}

}  // namespace fovea
