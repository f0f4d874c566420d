// The parser of tokenizers of models, and of the texts that they read.
#pragma once

#include <string>
#include <vector>

namespace fovea::test {

/// The files of a tokenizer, then a text, with between_files between them; an empty file is not
/// there: tokenizer.json, tokenizer_config.json, vocab.txt, vocab.json, merges.txt.
void parse_tokenizer(const std::string& bytes);
std::vector<std::string> tokenizer_seeds();

}  // namespace fovea::test
