// Imported tensors stand beside the q, k and v of a layer: what another program, a kernel or the
// model itself, computed from them.
#pragma once

#include <string>

#include "data/source.h"
#include "io/layer_tensors.h"

namespace fovea {

/// Whether a tensor of this name may say which pairs a result keeps; it is of any type.
bool may_be_kept_pairs(const std::string& name);

/// Adds to a layer that has its q, k and v the results that the file holds for it, those without a
/// name first. P is the layer's prefix:
///   P.z, P.attn_output, P.NAME.z   [H, nq, dv] outputs; P.hook_z [nq, H, dv]
///   P.lse, P.NAME.lse              [H, nq] natural logarithms of the row sums
///   P.p, P.NAME.p                  [H, nq, nk] weights; an attention matrix beside q, k and v, too
///   P.kept, P.NAME.kept            [nq, nk] or [H, nq, nk] 0 where a pair was left out; or
///                                  [.., ceil(nq / b), ceil(nk / b)] of blocks of b x b pairs
/// with the axis of the batch before, where there is one. Without z and p there is no result.
/// Throws InputError for other shapes and types.
void add_imported_tensors(const LayerTensors& tensors, Layer& layer);

}  // namespace fovea
