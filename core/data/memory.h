// Memory that is asked for because a file says so: the system would rather grant any amount and end
// the program when it is used.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace fovea {

/// Throws UnavailableError naming `what` for, what is needed and what there is, where that is less.
void require_memory(std::size_t bytes, const std::string& what);

/// Uninitialised; throws as require_memory.
std::shared_ptr<std::byte[]> allocate_bytes(std::size_t bytes, const std::string& what);

}  // namespace fovea
