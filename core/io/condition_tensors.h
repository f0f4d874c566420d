// Condition tensors stand beside the q, k and v of a layer and say how the model computes its
// heads: mask, bias, alibi, sinks, segments or cu_seqlens; and z, the output that it computed.
#pragma once

#include <string>

#include "data/source.h"
#include "io/tensor_file.h"

namespace fovea {

/// Which layer, and which member of a batch of it.
struct LayerPlace {
  std::string prefix;  // of its tensors' names; those without one are of every layer
  Index batches = 1, batch = 0;
};

/// Whether a tensor of this name may be one, after a prefix or without.
bool may_be_condition(const std::string& name);

/// Adds to a layer that has its q, k and v what the file holds for it:
///   mask, attention_mask   [nk], [nq, nk] or [H, nq, nk]: 0 or false where a pair does not count
///   bias, position_bias    the same shapes, added to the logits; a mask of a floating type is one
///   alibi, alibi_slopes    [H]
///   sinks, s_aux           [H]
///   segments, segment_ids  [nk] the document of each key
///   cu_seqlens             [documents + 1] where documents begin, and the end
///   z, attn_output         [H, nq, dv]
/// with the axis of the batch before, where there is one. Throws InputError for other shapes and
/// types.
void add_condition_tensors(const TensorFile& file, const LayerPlace& place, Layer& layer);

}  // namespace fovea
