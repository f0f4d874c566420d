// Makes a Source from a TensorFile: finds which tensors are q, k, v or attention, and what their
// axes mean.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "data/source.h"
#include "io/tensor_file.h"

namespace fovea {

/// Finds q, k, v (or packed qkv) and attention by the endings of names, one layer for each prefix,
/// in natural order, and for each member of a batch. `layout` ("[B,n,H,d]": any order of B, H, n, d
/// and, packed, 3) overrides metadata `layout`; without either it is [n,d], [H,n,d] or [B,H,n,d],
/// by the number of axes. A shape for which another layout is equally likely sets `layout_guessed`
/// and leaves a note. Throws InputError, UsageError for an invalid `layout`, UnavailableError for a
/// description that does not fit into the memory budget, Cancelled.
Source source_from_tensors(const TensorFile& file, const std::optional<std::string>& layout = {},
                           const std::stop_token& stop = {});

}  // namespace fovea
