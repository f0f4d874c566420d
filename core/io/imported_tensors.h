// Imported tensors stand beside the q, k and v of a layer: what another program, a kernel or the
// model itself, computed from them.
#pragma once

#include <string>

#include "data/source.h"
#include "io/layer_tensors.h"

namespace fovea {

/// Adds to a layer that has its q, k and v the results that the file holds for it, those without a
/// name first. P is the layer's prefix:
///   P.z, P.attn_output, P.NAME.z   [H, nq, dv] outputs; P.hook_z [nq, H, dv]
///   P.z_runs, P.NAME.z_runs        [runs, H, nq, dv] outputs of more runs on the same input
///   P.lse, P.NAME.lse              [H, nq] natural logarithms of the row sums
///   P.p, P.NAME.p                  [H, nq, nk] weights; an attention matrix beside q, k and v, too
///   P.kept, P.NAME.kept            and the other words of io/selection_tensors.h: the pairs with
///   weight
/// with the axis of the batch before, where there is one. Without z, p and kept pairs there is no
/// result. Throws InputError for other shapes and types.
void add_imported_tensors(const LayerTensors& tensors, Layer& layer);

/// Adds to the layers of a source, before their own, the results that another file holds for them:
/// with the name of the layer before, or without for all layers. Those without a name of their own
/// are called `unnamed`. They take the place of results with the same names. Throws InputError if
/// there are none, or for other shapes and types.
void add_results_of(const TensorFile& file, const std::string& unnamed, Source& source);

}  // namespace fovea
