// A MappedFile is a whole file seen as read-only memory. It stays mapped as long as its owner
// lives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace fovea {

struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Throws InputError when the path is missing, not a regular file, unreadable or empty.
MappedFile map_file(const std::string& path);

/// The same checks without mapping; returns the size in bytes.
std::size_t require_readable_file(const std::string& path);

}  // namespace fovea
