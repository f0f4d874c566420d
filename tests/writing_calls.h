// The calls of the system by which files are written: a test can take away what some file systems
// lack, and end the process before one of them. Only in programs that are linked with
// writing_calls.
#pragma once

namespace fovea::test {

struct WritingCalls {
  bool without_nameless_files = false;  // O_TMPFILE is refused, as on NFS
  int link_error = 0;                   // of every link; 0 if they work
  int lock_error = 0;                   // of the next `bad_locks` calls of flock
  int bad_locks = 0;
  int zero_links = 0;  // the next calls of fstat say that their file has no name
  int last =
      -1;  // so many calls that change a folder are done, then the process ends; -1 means all
};
extern WritingCalls writing_calls;

/// The exit status of a process that ended so.
inline constexpr int ended_amid_writing = 77;

}  // namespace fovea::test
