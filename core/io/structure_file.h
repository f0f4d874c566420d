// The Structure of a plan as tensors of a file: what `compute -o` writes and `--structure` reads.
// Names, types and shapes are those that the variants declare (TensorField), with one more axis in
// front: [H, ...], a slice for each head.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "io/safetensors_writer.h"
#include "plan/structure.h"

namespace fovea {

/// The slice of `head` of `heads`; tensors of one head serve all. Tensors that no variant declares
/// are ignored. Throws InputError for wrong types or values, and when there is no structure at all.
/// Shapes beyond the first axis are checked by Variant::plan, which knows the head. Throws
/// Cancelled.
Structure read_structure(const std::string& path, Index head, Index heads,
                         const std::stop_token& stop = {});

/// One tensor for each name. Throws Error unless the heads have the same tensors in the same
/// shapes.
std::vector<OutTensor> structure_tensors(const std::vector<Structure>& heads);

}  // namespace fovea
