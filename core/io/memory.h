// Memory that is asked for because a file says so.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace fovea {

/// Uninitialised. Throws UnavailableError naming `what` for when there is not as much to be had:
/// the system would rather grant any amount and end the program when it is used.
std::shared_ptr<std::byte[]> allocate_bytes(std::size_t bytes, const std::string& what);

}  // namespace fovea
