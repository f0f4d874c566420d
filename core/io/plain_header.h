// The header of a safetensors file in the form in which programs write it. Reading it makes no
// values of JSON, which would be ten million for a million tensors.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct HeaderEntry {
  std::string_view name, dtype;
  std::vector<Index> shape, offsets;
};

/// Reads an object whose names and types are UTF-8 without escapes, whose tensors have a dtype, a
/// shape and data_offsets of whole numbers below 2^63, each once, and nothing else, and which has
/// at most one __metadata__, an object of strings. Calls `tensor` for each tensor in the order of
/// the text, and `metadata` with that object as JSON. Returns false if the text has
/// another form, whether or not it is JSON; functions may have been called by then. Throws what the
/// functions throw.
bool read_plain_header(std::string_view text, const std::function<void(const HeaderEntry&)>& tensor,
                       const std::function<void(std::string_view json)>& metadata);

}  // namespace fovea
