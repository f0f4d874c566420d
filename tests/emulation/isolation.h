// The Isolation of the blocks of a launch from each other: a device runs them in any order or side
// by side, so no block may depend on what another one writes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "memory.h"

namespace fovea::emulation {

using AtomicUse = Thread::AtomicUse;

/// Each block begins with device memory as it was before the launch, but for the results of atomic
/// operations: what it has changed is put aside when it ends, and put in its place when the launch
/// ends. A byte that two blocks changed, not both of them by atomic operations, is a fault. A block
/// that reads what another one wrote reads what was there before, mostly NaN; the address sanitizer
/// reports the read.
///
/// Not seen: a write of the value that was there before the launch; a plain write or read, of the
/// same block or another, where only atomic operations change values. Where device memory is so
/// large that comparing it would take longer than the blocks, several blocks count as one.
class Isolation {
 public:
  /// `cost`: bytes of device memory that may be compared for one block.
  Isolation(std::uint64_t blocks, std::size_t cost);
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  /// Blocks end in sequence, each with the atomic operations of its threads.
  void end_block(std::span<const AtomicUse> uses);

 private:
  static constexpr std::size_t page_bytes = 512;
  static constexpr std::uint32_t by_atomics = ~0u;
  // What was put aside of a page of an allocation.
  struct Page {
    std::uint32_t writer[page_bytes] = {};  // 1 + the number of the block
    unsigned char value[page_bytes];
  };
  struct Memory {
    Allocation now;
    std::vector<unsigned char> before;
    std::unordered_map<std::size_t, std::unique_ptr<Page>> pages;
    std::vector<std::size_t> poisoned;  // offsets of eight bytes

    Page& page_of(std::size_t offset);
  };

  Memory* memory_at(const void* at);
  void keep_atomics(std::span<const AtomicUse> uses);
  void put_aside(Memory& memory);
  void put_aside(Memory& memory, std::size_t first, std::size_t last);
  void forbid(Memory& memory, std::size_t first, std::size_t last);
  [[noreturn]] void report(const Memory& memory, std::size_t offset, std::uint32_t other) const;

  const std::uint64_t blocks_;
  std::uint64_t together_ = 1, ended_ = 0;  // blocks that count as one; that have ended
  std::vector<Memory> memories_;            // in ascending order; none means one block alone
};

}  // namespace fovea::emulation
