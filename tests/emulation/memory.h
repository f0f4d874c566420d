// The emulated device's memory, as launches and copies see it.
#pragma once

#include <cstddef>
#include <vector>

namespace fovea::emulation {

/// What one allocation gave, without its guard bands.
struct Allocation {
  unsigned char* at = nullptr;
  std::size_t bytes = 0;
};

/// All device memory that is not freed yet, in ascending order of addresses.
std::vector<Allocation> allocations();
/// Whether bytes [at, at + bytes) lie in one allocation.
bool on_device(const void* at, std::size_t bytes);

/// The host has waited: of the memory that was freed the pool keeps what its threshold says.
void release_kept_memory();

}  // namespace fovea::emulation
