// The heads that the structures of a file were made from, as `fovea fit` and `fovea compute -o` say
// in its metadata.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct StructureOrigin {
  bool fitted = false;  // by fit; else computed
  Index layer = 0;
  std::vector<Index> heads;  // in the order of the slices
};

/// Nothing if the file does not say. Throws InputError if it cannot be read, and Cancelled.
std::optional<StructureOrigin> origin_of_structure(const std::string& path,
                                                   const std::stop_token& stop = {});

/// "FILE was fitted for layer 1, head 2; it is applied to layer 0, head 5". Empty if every head of
/// `layer`, which has `count` heads, gets the structure that was made from it.
std::string note_of_origin(const std::string& path, const StructureOrigin& origin, Index layer,
                           const std::vector<Index>& heads, Index count);

}  // namespace fovea
