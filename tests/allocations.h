// Counts what the program allocates, and refuses some of it, for tests of memory that do not depend
// on the machine. Only in programs that are linked with allocations.cpp.
#pragma once

#include <cstddef>
#include <new>

namespace fovea::test {

/// Bytes of the largest single allocation, by `new` or of a large matrix, since the last call, on
/// any thread.
std::size_t largest_allocation();

/// The most bytes that lived at once since `begin_peak`, beyond those that lived then; of all
/// threads. Blocks that the program keeps for their next use count as living: that is none below
/// 256 KiB.
void begin_peak();
std::size_t peak_bytes();

/// While it lives, the allocation of this number, by `new` or of a large matrix (not for
/// the address sanitizer), throws std::bad_alloc: on any thread, counted from 1, among those of at
/// least so many bytes.
class RefusedAllocation {
 public:
  explicit RefusedAllocation(std::size_t number, std::size_t least_bytes = 0);
  ~RefusedAllocation();
  RefusedAllocation(const RefusedAllocation&) = delete;
  RefusedAllocation& operator=(const RefusedAllocation&) = delete;

  /// Whether there were so many.
  bool reached() const;
};

/// Calls `work` again and again, with its first allocation refused, its second, and so on until
/// there are no more. It may throw std::bad_alloc or an Expected; anything else goes through.
/// Returns how many there are.
template <class Expected, class Work>
std::size_t refuse_each_allocation(Work work, std::size_t least_bytes = 0) {
  for (std::size_t number = 1;; ++number) {
    const RefusedAllocation refused(number, least_bytes);
    try {
      work();
    } catch (const std::bad_alloc&) {
    } catch (const Expected&) {
    }
    if (!refused.reached()) return number - 1;
  }
}

}  // namespace fovea::test
