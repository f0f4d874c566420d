// Confines a process that reads strangers' files with libraries that may have faults.
#pragma once

#include <cstddef>

namespace fovea {

/// Exit statuses of a confined process that has reached a limit, or could not be confined.
inline constexpr int out_of_time = 101, out_of_memory = 102, not_confined = 103;

/// To be called first in the process. From then on it ends with the thread that started it, keeps
/// no descriptor but the standard ones, and writes no file. Returns the descriptor for its answer,
/// which was standard output; what libraries print goes to standard error.
int begin_confinement();

/// From here on the process opens no file, no connection and no program, starts no other process
/// and reaches none. `memory` is the number of bytes that it may take beyond those that it has: if
/// C++ asks for more, it ends with `out_of_memory`. After `seconds` more of processor time it ends
/// with `out_of_time`. It ends with `not_confined` if the kernel refuses the confinement. Throws
/// UnavailableError if the memory cannot be limited.
void complete_confinement(std::size_t memory, int seconds);

}  // namespace fovea
