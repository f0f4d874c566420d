// Files of vLLM-Hook (also named mia): the queries and keys that a served model computed, after the
// rotary embedding, and beside them a JSON sidecar of the same stem that says how they are laid
// out.
#pragma once

#include <stop_token>

#include "data/source.h"
#include "io/tensor_file.h"

namespace fovea {

/// Whether all tensors have the names of such a file, MODULE__NAME__q and MODULE__NAME__k.
bool is_vllm_hook(const TensorFile& file);

/// Adds a layer without values for each module and each member of the batch, with the padding cut
/// off, and states scale and mask. Query pieces of a member that follow each other are one layer.
/// Throws InputError where the sidecar is missing, is not valid or contradicts the tensors,
/// UnavailableError where it does not fit into the memory budget, Cancelled.
void add_vllm_hook_layers(const TensorFile& file, Source& source, const std::stop_token& stop = {});

}  // namespace fovea
