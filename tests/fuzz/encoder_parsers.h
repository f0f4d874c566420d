// Parsers of the files of a model: its weights and what describes them, and what it wants of
// images.
#pragma once

#include <string>
#include <vector>

namespace fovea::test {

/// config.json, and after `between_files` model.safetensors. What is taken is computed.
void parse_encoder(const std::string& bytes);
std::vector<std::string> encoder_seeds();

/// model.safetensors.index.json.
void parse_shards(const std::string& bytes);
std::vector<std::string> shard_seeds();

/// The header of a .gguf file.
void parse_gguf(const std::string& bytes);
std::vector<std::string> gguf_seeds();

/// preprocessor_config.json. A picture is prepared by what is taken.
void parse_preprocessor(const std::string& bytes);
std::vector<std::string> preprocessor_seeds();

}  // namespace fovea::test
