// The message of a crash: the next start offers the session (recovery_file.h).
#pragma once

namespace fovea {

/// From now on a crash, on any thread, ends the program with a message.
void report_crashes();

/// Keeps a stack for this message on behalf of the calling thread until it ends, as a stack that
/// has overflowed has no room. report_crashes() calls this function, too.
void keep_stack_for_crash();

}  // namespace fovea
