// Writing .safetensors: F32, I32 and U8 tensors and text metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct OutTensor {
  std::string name;
  std::vector<Index> shape;
  std::variant<std::vector<float>, std::vector<std::int32_t>, std::vector<std::uint8_t>>
      values;  // C order
};

/// Replaces `path` only when everything is written. Throws UnavailableError, and Cancelled soon
/// after a stop is requested.
void write_safetensors(const std::string& path, const std::vector<OutTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       std::stop_token stop = {});

/// The bytes of such a file.
std::vector<std::byte> safetensors_bytes(const std::vector<OutTensor>& tensors,
                                         const std::map<std::string, std::string>& metadata);

}  // namespace fovea
