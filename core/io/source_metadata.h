// The metadata of a file that describes its Source: scale, mask, tokens, image grid, names.
#pragma once

#include <stop_token>

#include "data/source.h"

namespace fovea {

/// Reads `scale`, `causal`, `window`, `softcap`, `recurrence`, `tokens`, `image`, `model` and
/// `layer` of source.metadata, the first five also as "<layer>.scale" and so on, into the fields of
/// the source. Layers that are a recurrence are causal if nothing says otherwise. Tokens and grids
/// that do not fit the layers' n are left out with a note. Throws InputError for values that are
/// not valid, UnavailableError for those that do not fit into the memory budget, Cancelled.
void apply_metadata(Source& source, const std::stop_token& stop = {});

/// Gives the source these tokens, or adds a note if their number is not that of the positions.
void set_tokens(Source& source, std::vector<std::string> tokens);

}  // namespace fovea
