// A ColumnTree is the learned tree that a column of a session shows. Whoever computes the column
// again is given it, so that the same figure comes out wherever the tree was learned.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/computation.h"
#include "plan/structure.h"
#include "session/session.h"

namespace fovea {

struct ColumnTree {
  std::size_t column = 0;  // an index into Session::columns
  /// "layer2, head 3": the head on which it was learned, if that is not the column's own.
  std::string learned_on;
  Structure tensors;
  friend bool operator==(const ColumnTree&, const ColumnTree&) = default;
};

/// The tree that a computed column shows; nothing if it has none that was learned.
std::optional<ColumnTree> shown_tree(std::size_t column, const Computation& computation,
                                     std::string learned_on);

/// "Treeformer TF: its tree was learned on layer2, head 3. ": a remark in a figure. Empty if the
/// tree was learned on the column's own head.
std::string remark_on_tree(const std::string& title, const std::string& learned_on);

/// Gives the tree to a request of a learned tree; others stay as they are. A note says on which
/// head it was learned if that is another one.
void give_tree(ComputeRequest& request, const ColumnTree& tree);

/// The tree of a column; null if there is none.
const ColumnTree* tree_of_column(const std::vector<ColumnTree>& trees, std::size_t column);

/// The trees with the new places of their columns; those of columns that are gone are dropped.
std::vector<ColumnTree> moved_trees(std::vector<ColumnTree> trees, const std::vector<Column>& from,
                                    const std::vector<Column>& to);

}  // namespace fovea
