// A text file as tokens.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_bytes.h"

namespace fovea {

/// The whole text, without a byte order mark. Throws InputError for bytes that are not UTF-8, and
/// if there is nothing but spaces.
std::string read_whole_text(const FileBytes& file, const std::stop_token& stop = {});

/// UTF-8, with or without a byte order mark. Returns words and punctuation by the Unicode rules
/// (UAX #29), without spaces; or the lines as they are, also empty ones, without their ends (LF or
/// CR LF). Throws InputError for bytes that are not UTF-8, no token at all, or too many.
std::vector<std::string> read_text(const FileBytes& file, bool one_token_per_line,
                                   const std::stop_token& stop = {});

/// The offset of the first byte that does not belong to well-formed UTF-8; text.size() if all do.
std::size_t valid_utf8_prefix(std::string_view text);

}  // namespace fovea
