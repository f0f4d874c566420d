#include "session/column_tree.h"

#include <algorithm>
#include <utility>

#include "variants/learned_tree.h"

namespace fovea {

std::optional<ColumnTree> shown_tree(std::size_t column, const Computation& computation,
                                     std::string learned_on) {
  Structure tensors =
      learned_tensors(*computation.variant, computation.values, computation.op->plan());
  if (tensors.empty()) return {};
  return ColumnTree{column, std::move(learned_on), std::move(tensors)};
}

std::string remark_on_tree(const std::string& title, const std::string& learned_on) {
  return learned_on.empty() ? "" : title + ": its tree was learned on " + learned_on + ". ";
}

void give_tree(ComputeRequest& request, const ColumnTree& tree) {
  if (!learned_steps(*request.variant, request.values)) return;
  request.given = tree.tensors;
  if (!tree.learned_on.empty()) request.notes = {"the tree was learned on " + tree.learned_on};
}

const ColumnTree* tree_of_column(const std::vector<ColumnTree>& trees, std::size_t column) {
  const auto found = std::ranges::find(trees, column, &ColumnTree::column);
  return found == trees.end() ? nullptr : &*found;
}

std::vector<ColumnTree> moved_trees(std::vector<ColumnTree> trees, const std::vector<Column>& from,
                                    const std::vector<Column>& to) {
  std::vector<ColumnTree> moved;
  for (ColumnTree& tree : trees) {
    const auto place = moved_column(from, to, tree.column);
    if (!place) continue;
    tree.column = *place;
    moved.push_back(std::move(tree));
  }
  return moved;
}

}  // namespace fovea
