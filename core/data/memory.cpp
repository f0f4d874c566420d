#include "data/memory.h"

#include <fstream>
#include <limits>
#include <new>

#include "data/error.h"

namespace fovea {
namespace {

/// Bytes that can be used without swapping; no limit where the system does not report it.
std::size_t available_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  while (in >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::size_t>::max();
}

UnavailableError refusal(std::size_t bytes, std::size_t available, const std::string& what) {
  return UnavailableError(what + ": " + std::to_string(bytes >> 20) + " MiB of memory needed, " +
                          std::to_string(available >> 20) + " MiB available");
}

}  // namespace

void require_memory(std::size_t bytes, const std::string& what) {
  constexpr std::size_t worth_asking = std::size_t{64} << 20;
  if (bytes < worth_asking) return;
  const std::size_t available = available_bytes();
  if (bytes > available) throw refusal(bytes, available, what);
}

std::shared_ptr<std::byte[]> allocate_bytes(std::size_t bytes, const std::string& what) {
  require_memory(bytes, what);
  try {
    return std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  } catch (const std::bad_alloc&) {
    throw refusal(bytes, available_bytes(), what);
  }
}

}  // namespace fovea
