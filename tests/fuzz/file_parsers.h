// Parsers of files with tensors, tokens, texts and pictures, and of folders of results.
#pragma once

#include <string>

namespace fovea::test {

void parse_safetensors(const std::string& bytes);
/// Parses what a model gives layer by layer: messages, each behind its length.
void parse_given_layers(const std::string& bytes);
void parse_npz(const std::string& bytes);
void parse_npy(const std::string& bytes);
/// Parses what vLLM-Hook says beside its tensors, which are valid.
void parse_vllm_hook(const std::string& bytes);
void parse_structure(const std::string& bytes);
void parse_fit(const std::string& bytes);
void parse_tokens(const std::string& bytes);
void parse_text(const std::string& bytes);
void parse_image(const std::string& bytes);

/// Separates the files of a folder of results, one after another. A folder that is
/// refused is as it was.
inline constexpr char between_files = '\x1d';
void parse_results_folder(const std::string& bytes);

}  // namespace fovea::test
