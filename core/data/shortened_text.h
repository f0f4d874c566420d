#pragma once

#include <string>

namespace fovea {

/// A text of more than 24 bytes by its beginning, up to a space if there is one: "0-255/0-16383 …".
std::string shortened_text(const std::string& text);

}  // namespace fovea
