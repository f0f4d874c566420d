// Tokenizers write spaces and bytes as marks (Ġ, ▁, ##, </w>, <0x0A>), which are turned back into
// text here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// The tokens of one text as they are displayed, always valid UTF-8. Whether they are byte-level is
/// decided for all of them together. A leading space stays a space. A character that is divided
/// among tokens goes to the first of them, and the others become "…". Bytes that are not UTF-8
/// become <0xE9>; the rest is as in `with_signs`.
std::vector<std::string> display_tokens(const std::vector<std::string>& tokens);

/// The text of a token with signs, which every font has, for invisible characters: ↵ for a line
/// break, ⇥ for a tab, ⇤ for a carriage return, and the code of any other control character, such
/// as the six letters U+0001. If a token has nothing else, white space other than " " and
/// characters of no width are written as their codes, too.
std::string with_signs(std::string_view text);

}  // namespace fovea
