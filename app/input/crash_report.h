// What the program says where it crashes: that the next start offers the session (recovery_file.h).
#pragma once

namespace fovea {

/// From now on a crash, on any thread, ends the program with a message.
void report_crashes();

/// Keeps a stack for this message, as one that has overflowed has no room for it. Of the calling
/// thread, until it ends; report_crashes() calls it.
void keep_stack_for_crash();

}  // namespace fovea
