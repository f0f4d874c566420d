// The calls of the system by which files are written: a test can take away what some file systems
// lack, and end the process before one of them. Only in programs that are linked with
// writing_calls.
#pragma once

namespace fovea::test {

struct WritingCalls {
  bool without_nameless_files = false;  // O_TMPFILE is refused, as on NFS
  int last = -1;  // so many calls that change a folder are done, then the process ends; -1: all
};
extern WritingCalls writing_calls;

/// The exit status of a process that ended so.
inline constexpr int ended_amid_writing = 77;

}  // namespace fovea::test
