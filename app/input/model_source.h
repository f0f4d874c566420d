// A model of the user's own as a source: the heads of an encoder while it reads a text or an image.
#pragma once

#include <string>

#include "input/open_source.h"

namespace fovea {

/// `address` as in ModelAddress. Throws UsageError for an address that is not valid or names no
/// input, and what open_source() throws.
Source open_model(const std::string& address, const OpenOptions& options);

}  // namespace fovea
