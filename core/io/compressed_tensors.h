// Entry tensors stand beside the q, k and v of a layer whose queries attend, beside tokens, entries
// that stand for tokens.
#pragma once

#include <string>

#include "data/source.h"
#include "io/layer_tensors.h"

namespace fovea {

/// Whether a tensor of this name may be one, after a prefix or without.
bool may_be_entry_tensor(const std::string& name);

/// Joins what the file holds for a layer to its keys and values:
///   k_extra, v_extra  [Hkv, m, d] and [Hkv, m, dv]
///   extra_tokens      [m, 2] the first token of each entry, and one past the last
///   extra_indices     [nq, k] or [H, nq, k] which entries each query attends; -1: none. All
///                     without it
/// with the axis of the batch in front, if there is one. Throws InputError for other shapes and
/// types, entries of no tokens or in another order, and more queries than tokens.
void add_compressed_tensors(const LayerTensors& tensors, Layer& layer);

}  // namespace fovea
