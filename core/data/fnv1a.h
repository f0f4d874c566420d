// FNV-1a, a hash of bytes that is the same on every machine. It does not resist attacks.
#pragma once

#include <cstdint>
#include <string_view>

namespace fovea {

/// `begin`: the hash of what comes before.
inline std::uint64_t fnv1a(std::string_view bytes, std::uint64_t begin = 0xcbf29ce484222325) {
  std::uint64_t hash = begin;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace fovea
