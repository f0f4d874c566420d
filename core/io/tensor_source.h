// A Source from a TensorFile: which tensors are q, k, v or attention, and how their axes are meant.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "data/source.h"
#include "io/tensor_file.h"

namespace fovea {

/// Finds q, k, v (or packed qkv) and attention by the endings of names, one layer a prefix, in
/// natural order; a batch becomes one layer a member. `layout` ("[B,n,H,d]": any order of B, H, n,
/// d and, packed, 3) overrides metadata `layout`; without either it is [n,d], [H,n,d] or [B,H,n,d]
/// by rank. A shape for which another reading is as likely sets `layout_guessed` and leaves a note.
/// Throws InputError, or UsageError for a `layout` that is none, UnavailableError for a description
/// that does not fit into the memory budget, Cancelled.
Source source_from_tensors(const TensorFile& file, const std::optional<std::string>& layout = {},
                           const std::stop_token& stop = {});

}  // namespace fovea
