// Reads of files that a test watches: in the middle of one of them something happens. Only in
// programs that are linked with --wrap=pread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace fovea::test {

/// Something that happens at a read of a file, when half of it is done.
struct Interruption {
  ino_t file = 0;  // 0: none is waited for
  int reads = 0;   // that are left before it
  std::function<void()> change;
  bool done = false;
  int later = 0;  // reads of any file since it is done
};
extern Interruption interruption;

/// The number by which the system knows the file.
ino_t inode_of(const std::string& path);

}  // namespace fovea::test
