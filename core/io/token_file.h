// A TokenFile is a tokenized text from JSON: a list of tokens, or what a tokenizer returned.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "io/file_bytes.h"

namespace fovea {

struct TokenFile {
  std::vector<std::string> tokens;  // for display: byte-level marks decoded; at least one
  std::vector<std::string> notes;
};

/// The content of a file of tokens or of a text. Throws InputError above 64 MiB, since no real text
/// of most_tokens tokens is larger; and what FileBytes::text throws.
std::string read_token_text(const FileBytes& file, const std::stop_token& stop);

/// A list of strings or integers; an object with `tokens` and/or `input_ids` or `ids` (an Encoding
/// of Hugging Face tokenizers); a list with one such object. Throws InputError otherwise, and what
/// read_token_text and parse_json do.
TokenFile read_token_json(const FileBytes& file, const std::stop_token& stop = {});

}  // namespace fovea
