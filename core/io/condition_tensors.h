// Condition tensors stand beside the q, k and v of a layer and say how the model computes its
// heads: mask, bias, alibi, sinks, segments or cu_seqlens, and the gates of a recurrence.
#pragma once

#include <stop_token>
#include <string>

#include "data/source.h"
#include "io/layer_tensors.h"

namespace fovea {

/// Whether a tensor of this name may be one, after a prefix or without.
bool may_be_condition(const std::string& name);

/// Adds to a layer that has its q, k and v what the file holds for it:
///   mask, attention_mask   [nk], [nq, nk] or [H, nq, nk]: 0 or false where a pair does not count
///   bias, position_bias    the same shapes, added to the logits; a mask of a floating type is one
///   alibi, alibi_slopes    [H]
///   sinks, s_aux           [H]
///   segments, segment_ids  [nk] the document of each key
///   beta                   [H, n], log_decay [H, n] or [H, n, d], level_weights or lambda
///                          [H, n, levels]: gates of a recurrence; hook_beta and hook_log_decay of
///                          TransformerLens have tokens before heads
/// cu_seqlens             [documents + 1] where documents begin, and the end with the axis of the
/// batch in front, if there is one. Tensors of one axis are read here, masks and biases later.
/// Throws InputError for other shapes and types, and Cancelled.
void add_condition_tensors(const LayerTensors& tensors, Layer& layer,
                           const std::stop_token& stop = {});

}  // namespace fovea
