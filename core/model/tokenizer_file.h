// tokenizer.json describes the steps of a tokenizer.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "io/json.h"
#include "model/tokenizer.h"

namespace fovea {

/// The words of CLIP, as a regular expression in its tokenizer.json; older files have it without
/// the two marks at its front.
inline constexpr char clip_words[] =
    R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

/// The tokenizer that the content of a tokenizer.json describes; `where` is what messages call it,
/// `files` what it was read from. Throws as read_tokenizer.
std::unique_ptr<Tokenizer> tokenizer_from(const std::string& where, const Json& document,
                                          SourceFiles files = {});

}  // namespace fovea
