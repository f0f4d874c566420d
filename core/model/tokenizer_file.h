// The files of a tokenizer, as tokenizer.json describes its steps.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "io/json.h"
#include "model/tokenizer.h"

namespace fovea {

/// The words of CLIP, as a regular expression in its tokenizer.json.
inline constexpr char clip_words[] = R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

/// The tokenizer that the content of a tokenizer.json describes; `where` is what messages call it.
/// Throws as read_tokenizer.
std::unique_ptr<Tokenizer> tokenizer_from(const std::string& where, const Json& document);

/// What tokenizer.json would say of BERT's tokenizer with the tokens of vocab.txt, one a line.
/// `config` is the content of tokenizer_config.json, or an empty object.
Json bert_tokenizer(const std::string& where, const std::string& vocabulary, const Json& config);

/// The same of the tokenizer of RoBERTa or CLIP with the tokens of vocab.json and the lines of
/// merges.txt.
Json byte_pair_tokenizer(const std::string& where, Json vocabulary, const std::string& merges,
                         const Json& config);

}  // namespace fovea
