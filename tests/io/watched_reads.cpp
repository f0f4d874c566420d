#include "io/watched_reads.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace fovea::test {

Interruption interruption;

ino_t inode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

extern "C" {
// These names are reserved because the linker's option --wrap=pread sends the calls here.
// NOLINTBEGIN(bugprone-reserved-identifier)
ssize_t __real_pread(int file, void* to, size_t size, off_t at);

ssize_t __wrap_pread(int file, void* to, size_t size, off_t at) {
  struct stat status {};
  interruption.later += interruption.done;
  if (interruption.done || ::fstat(file, &status) != 0 || status.st_ino != interruption.file ||
      interruption.reads-- > 0)
    return __real_pread(file, to, size, at);
  const ssize_t got = __real_pread(file, to, (size + 1) / 2, at);
  interruption.done = true;
  interruption.change();
  return got;
}
// NOLINTEND(bugprone-reserved-identifier)
}

}  // namespace fovea::test
