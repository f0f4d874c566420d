#include "isolation.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <string>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define FOVEA_UNCHECKED __attribute__((no_sanitize_address))
#elif defined(__SANITIZE_THREAD__)
#define FOVEA_UNCHECKED __attribute__((no_sanitize_thread))
#else
#define FOVEA_UNCHECKED
#endif

namespace fovea::emulation {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
bool differ(const unsigned char* a, const unsigned char* b, std::size_t bytes) {
  return std::memcmp(a, b, bytes) != 0;
}
#else
// As memcmp. The address sanitizer may have been told that nobody reads, and the thread sanitizer
// need not look: a barrier orders this after the block.
FOVEA_UNCHECKED bool differ(const unsigned char* a, const unsigned char* b, std::size_t bytes) {
  using Word = std::uint64_t __attribute__((may_alias, aligned(1)));
  std::uint64_t difference = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8)
    difference |= *reinterpret_cast<const Word*>(a + i) ^ *reinterpret_cast<const Word*>(b + i);
  for (; i < bytes; ++i) difference |= a[i] ^ b[i];
  return difference != 0;
}
#endif

}  // namespace

Isolation::Isolation(std::uint64_t blocks, std::size_t cost) : blocks_(blocks) {
  if (blocks < 2) return;
  std::size_t total = 0;
  for (const Allocation& each : allocations()) {
    memories_.push_back({each, {each.at, each.at + each.bytes}, {}, {}});
    total += each.bytes;
  }
  together_ = std::min<std::uint64_t>(1 + total / cost, (blocks + 1) / 2);
}

Isolation::~Isolation() {
  for (Memory& memory : memories_) {
#ifdef __SANITIZE_ADDRESS__
    for (const std::size_t offset : memory.poisoned)
      __asan_unpoison_memory_region(memory.now.at + offset, 8);
#endif
    for (const auto& [number, page] : memory.pages)
      for (std::size_t i = 0; i < page_bytes; ++i)
        if (page->writer[i] != 0 && page->writer[i] != by_atomics)
          memory.now.at[number * page_bytes + i] = page->value[i];
  }
}

void Isolation::end_block(std::span<const AtomicUse> uses) {
  if (memories_.empty()) return;
  ++ended_;
  keep_atomics(uses);
  if (ended_ % together_ != 0 && ended_ != blocks_) return;
  for (Memory& memory : memories_) put_aside(memory);
}

Isolation::Page& Isolation::Memory::page_of(std::size_t offset) {
  std::unique_ptr<Page>& page = pages[offset / page_bytes];
  if (!page) page.reset(new Page);  // values are not cleared
  return *page;
}

Isolation::Memory* Isolation::memory_at(const void* at) {
  const auto* const byte = static_cast<const unsigned char*>(at);
  const auto after = std::ranges::upper_bound(memories_, byte, {}, [](const Memory& m) {
    return static_cast<const unsigned char*>(m.now.at);
  });
  if (after == memories_.begin()) return nullptr;
  Memory& memory = *(after - 1);
  return byte < memory.now.at + memory.now.bytes ? &memory : nullptr;
}

// The next block reads their results, as if they had been there before.
void Isolation::keep_atomics(std::span<const AtomicUse> uses) {
  for (const AtomicUse& use : uses) {
    Memory* const memory = memory_at(use.at);  // none: shared memory
    if (!memory) continue;
    const auto first =
        static_cast<std::size_t>(static_cast<unsigned char*>(use.at) - memory->now.at);
    for (std::size_t i = first; i < first + use.bytes; ++i) {
      std::uint32_t& writer = memory->page_of(i).writer[i % page_bytes];
      if (writer != 0 && writer != by_atomics) report(*memory, i, writer);
      writer = by_atomics;
      memory->before[i] = memory->now.at[i];
    }
  }
}

void Isolation::put_aside(Memory& memory) {
  for (std::size_t first = 0; first < memory.now.bytes; first += page_bytes) {
    const std::size_t last = std::min(first + page_bytes, memory.now.bytes);
    if (!differ(memory.now.at + first, memory.before.data() + first, last - first)) continue;
    put_aside(memory, first, last);
    forbid(memory, first, last);
  }
}

FOVEA_UNCHECKED void Isolation::put_aside(Memory& memory, std::size_t first, std::size_t last) {
  Page& page = memory.page_of(first);
  const auto writer = static_cast<std::uint32_t>(ended_);
  for (std::size_t i = first; i < last; ++i) {
    unsigned char& now = memory.now.at[i];
    if (now == memory.before[i]) continue;
    const std::size_t at = i - first;
    if (page.writer[at] != 0) report(memory, i, page.writer[at]);
    page.writer[at] = writer;
    page.value[at] = now;
    now = memory.before[i];
  }
}

// The address sanitizer reports whoever reads or writes what the block has written: eight bytes at
// a time, its smallest unit, where all of them are the block's.
void Isolation::forbid([[maybe_unused]] Memory& memory, [[maybe_unused]] std::size_t first,
                       [[maybe_unused]] std::size_t last) {
#ifdef __SANITIZE_ADDRESS__
  const Page& page = memory.page_of(first);
  for (std::size_t i = first; i + 8 <= last; i += 8) {
    const auto* const writer = page.writer + (i - first);
    if (!std::all_of(writer, writer + 8, [&](std::uint32_t each) { return each == ended_; }))
      continue;
    __asan_poison_memory_region(memory.now.at + i, 8);
    memory.poisoned.push_back(i);
  }
#endif
}

void Isolation::report(const Memory& memory, std::size_t offset, std::uint32_t other) const {
  const auto of = [](std::uint64_t number) { return "block " + std::to_string(number - 1); };
  fault(("two blocks of a launch wrote the same address: " + of(ended_) + " and " +
         (other == by_atomics ? "atomic operations" : of(other)) + ", byte " +
         std::to_string(offset) + " of " + std::to_string(memory.now.bytes))
            .c_str());
}

}  // namespace fovea::emulation
