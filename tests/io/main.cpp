// The main function of the tests of files: they write thousands, which a disk would take minutes
// for, so that they are kept in memory where there is room.
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "run_tests.h"

namespace {

/// Whether files of the folder are in memory, which has room for those of any test.
bool is_roomy_memory(const char* folder) {
  constexpr std::uint64_t room = std::uint64_t{1} << 30;
  struct statfs about {};
  return folder && ::statfs(folder, &about) == 0 && about.f_type == TMPFS_MAGIC &&
         about.f_bavail * static_cast<std::uint64_t>(about.f_bsize) >= room &&
         ::access(folder, W_OK | X_OK) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!::getenv("TMPDIR"))
    for (const char* folder :
         std::initializer_list<const char*>{::getenv("XDG_RUNTIME_DIR"), "/dev/shm"})
      if (is_roomy_memory(folder)) ::setenv("TMPDIR", folder, 0);
  doctest::Context context(argc, argv);
  return fovea::test::run_tests(context);
}
