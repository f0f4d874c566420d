// A GgufHeader is what a .gguf file says of its model. The weights behind it are not read.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "data/bytes.h"

namespace fovea {

struct GgufHeader {
  std::string architecture;     // "llama"; empty if not stated, as the next
  std::string name;             // "SmolLM2 135M"
  Index layers = 0, heads = 0;  // 0 if not stated
};

/// Throws InputError with the file, what was found and what was expected; Cancelled.
GgufHeader read_gguf_header(const std::string& path, const std::stop_token& stop = {});
/// `where`: what messages call the bytes.
GgufHeader read_gguf_header(const std::string& where, const Bytes& bytes, Index size,
                            const std::stop_token& stop = {});

}  // namespace fovea
