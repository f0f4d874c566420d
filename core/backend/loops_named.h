// The hot loops of an instruction set by its name, if this machine has it.
#pragma once

#include <string>

#include "backend/isa/attend.h"

namespace fovea {

/// "sse2", "avx2", "avx512", or "auto" for the widest that the machine has. Throws UnavailableError
/// and UsageError.
const isa::Loops& loops_named(const std::string& name);

}  // namespace fovea
