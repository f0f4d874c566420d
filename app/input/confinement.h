// Confinement of a process that reads what strangers wrote, with libraries that may have faults.
#pragma once

#include <cstddef>

namespace fovea {

/// Exit statuses of a confined process that has reached a limit.
inline constexpr int out_of_time = 101, out_of_memory = 102;

/// For the first lines of the process: it ends when the thread that started it ends, keeps no
/// descriptor but the standard ones, writes no file, and ends with `out_of_time` after so many
/// seconds of processor time.
void begin_confinement(int seconds);

/// From here on it opens no file, no connection and no program, and takes so many bytes of memory
/// beyond those that it has; where C++ asks for more it ends with `out_of_memory`.
void complete_confinement(std::size_t memory);

}  // namespace fovea
