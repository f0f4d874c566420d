// The Structure of a plan as tensors: what `compute -o` writes and `--structure` reads.
#pragma once

#include <string>
#include <vector>

#include "io/safetensors_writer.h"
#include "plan/plan.h"

namespace fovea {

// Names are those of Structure's members; shape [H, ...], one slice a head. A tree is `tree_weight`
// and `tree_bias`, nodes level by level, root first:
//   binary by sign  [H, nodes, d] and [H, nodes]
//   k-ary           [H, nodes, b, d] and [H, nodes, b], b the largest branching; a child that a
//                   smaller level does not have has bias -inf (and weight 0), so no argmax takes
//                   it.

/// The slice of `head` of `heads`; tensors of one head serve all. Other tensors are ignored.
/// Throws InputError for wrong shapes, types or values, and when there is no structure at all.
Structure read_structure(const std::string& path, Index head, Index heads);

/// What is empty in every head is left out. The heads are alike in shape.
std::vector<OutTensor> structure_tensors(const std::vector<Structure>& heads);

}  // namespace fovea
