// A Tree as two tensors of a structure, tree_weight and tree_bias: nodes level by level, root
// first.
//   binary by sign  [nodes, d] and [nodes]
//   k-ary           [nodes, b, d] and [nodes, b], b the largest branching; a child that a smaller
//                   level does not have has bias -inf (and weight 0), so that no argmax takes it
#pragma once

#include "plan/tree.h"
#include "variants/structure_fields.h"

namespace fovea {

/// Their declarations.
std::vector<TensorField> tree_tensors();

/// Adds the tensors of a tree; none for a tree of a single leaf. Throws Error for a tree with
/// levels of both kinds, which these tensors cannot hold.
void set_tree(Structure& structure, const Tree& tree);

/// The tree that the tensors hold; without levels when there are none. Throws InputError when only
/// one of the two is there, or when they do not describe whole levels of one branching each.
Tree tree_of(const Structure& structure);

}  // namespace fovea
