// What a file's metadata says about its Source: scale, mask, tokens, image grid, names.
#pragma once

#include "data/source.h"

namespace fovea {

/// Reads source.metadata (`scale`, `causal`, `tokens`, `image`, `model`, `layer`) into the fields
/// it is about. Tokens and grids that do not fit the layers' n are left out with a note. Throws
/// InputError for values that cannot be read.
void apply_metadata(Source& source);

/// Gives the source these tokens, or leaves a note when they are not one a position.
void set_tokens(Source& source, std::vector<std::string> tokens);

}  // namespace fovea
