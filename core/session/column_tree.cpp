#include "session/column_tree.h"

#include <algorithm>

namespace fovea {

void give_tree(ComputeRequest& request, const ColumnTree& tree) {
  request.given = tree.tensors;
  if (!tree.learned_on.empty()) request.notes = {"the tree was learned on " + tree.learned_on};
}

const ColumnTree* tree_of(const std::vector<ColumnTree>& trees, std::size_t column) {
  const auto found = std::ranges::find(trees, column, &ColumnTree::column);
  return found == trees.end() ? nullptr : &*found;
}

}  // namespace fovea
