// Counts what the program allocates, for tests of memory that do not depend on the machine.
#pragma once

#include <cstddef>

namespace fovea::test {

/// Bytes of the largest single allocation by `new` since the last call, on any thread. Only in
/// programs that are linked with allocations.cpp.
std::size_t largest_allocation();

}  // namespace fovea::test
