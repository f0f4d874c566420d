// ModelFacts are what the files of a model tell before it is opened. Weights are not read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct ModelFacts {
  std::string architecture;     // "bert"; empty if not stated
  std::string name;             // that a .gguf file states; empty if none
  Index layers = 0, heads = 0;  // 0 if not stated
  std::uint64_t bytes = 0;      // of the weights
  std::int64_t used = 0;      // when weights were last read; for a .gguf file, when it was written
  bool own = false;           // Fovea's own encoder computes it, not Python
  bool reads_images = false;  // and no texts
};

bool is_gguf(const std::string& path);
/// The .gguf files of a folder. Throws InputError.
std::vector<std::string> gguf_files(const std::string& folder);

/// Reads a folder with config.json, or a .gguf file. Throws InputError.
ModelFacts model_facts(const std::string& path);

/// What a folder lacks to be a whole model: "config.json is missing"; empty if it is one.
std::string missing_in_model(const std::string& folder);

}  // namespace fovea
