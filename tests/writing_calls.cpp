#include "writing_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace fovea::test {

WritingCalls writing_calls;

namespace {

void count() {
  if (writing_calls.last == 0) ::_exit(ended_amid_writing);
  if (writing_calls.last > 0) --writing_calls.last;
}

}  // namespace

extern "C" {
// These names are reserved because the linker's option --wrap sends the calls here.
// NOLINTBEGIN(bugprone-reserved-identifier)
int __real_openat(int folder, const char* name, int flags, ...);
int __real_linkat(int from, const char* name, int to, const char* new_name, int flags);
int __real_flock(int file, int operation);
int __real_fstat(int file, struct stat* status);
int __real_renameat(int from, const char* name, int to, const char* new_name);
int __real_unlinkat(int folder, const char* name, int flags);

int __wrap_openat(int folder, const char* name, int flags, mode_t mode) {
  if (writing_calls.without_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return __real_openat(folder, name, flags, mode);
}
int __wrap_linkat(int from, const char* name, int to, const char* new_name, int flags) {
  count();
  if (writing_calls.link_error != 0) {
    errno = writing_calls.link_error;
    return -1;
  }
  return __real_linkat(from, name, to, new_name, flags);
}
int __wrap_flock(int file, int operation) {
  if (writing_calls.bad_locks == 0) return __real_flock(file, operation);
  --writing_calls.bad_locks;
  errno = writing_calls.lock_error;
  return -1;
}
int __wrap_fstat(int file, struct stat* status) {
  const int result = __real_fstat(file, status);
  if (writing_calls.zero_links > 0) {
    --writing_calls.zero_links;
    status->st_nlink = 0;
  }
  return result;
}
int __wrap_renameat(int from, const char* name, int to, const char* new_name) {
  count();
  return __real_renameat(from, name, to, new_name);
}
int __wrap_unlinkat(int folder, const char* name, int flags) {
  count();
  return __real_unlinkat(folder, name, flags);
}
// NOLINTEND(bugprone-reserved-identifier)
}

}  // namespace fovea::test
