// Tokenizers write spaces and bytes as marks (Ġ, ▁, ##, </w>, <0x0A>), which are turned back into
// text here.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// The token as it is displayed, always valid UTF-8. A leading space stays a space; control
/// characters become their pictures (␊); bytes that are not UTF-8 by themselves become <0xE9>.
std::string display_token(std::string_view token);

}  // namespace fovea
