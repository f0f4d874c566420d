// Memory whose size a file determines. It is checked first, because the system grants any amount
// and ends the program when it is used.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace fovea {

/// Throws UnavailableError with `what` it is for, the memory needed and the memory available, if
/// that is less.
void require_memory(std::size_t bytes, const std::string& what);

/// Uninitialised; throws as require_memory.
std::shared_ptr<std::byte[]> allocate_bytes(std::size_t bytes, const std::string& what);

}  // namespace fovea
