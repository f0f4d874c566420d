#include "io/file_locks.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "data/error.h"

namespace fovea {

FileLocks::FileLocks(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  if (!file_) throw UnavailableError(path + " cannot be written: " + std::strerror(errno));
}

FileLocks::FileLocks(const Directory& folder, const std::string& name)
    : path_(folder.path_of(name)), file_(folder.open(name, O_RDWR | O_CREAT)) {}

bool FileLocks::try_lock(off_t byte, Kind kind) {
  return set(byte, kind == Kind::shared ? F_RDLCK : F_WRLCK, false);
}

void FileLocks::wait_for(off_t byte, Kind kind) {
  set(byte, kind == Kind::shared ? F_RDLCK : F_WRLCK, true);
}

void FileLocks::release(off_t byte) {
  set(byte, F_UNLCK, false);
}

// Locks of the open file, not of the process: two objects in one process exclude each other too.
bool FileLocks::set(off_t byte, short type, bool wait) {
  for (;;) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    if (::fcntl(descriptor(), wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EACCES) return false;
    missing_ = errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
    if (missing_) return true;
    throw UnavailableError(path_ + " cannot be locked: " + std::strerror(errno));
  }
}

}  // namespace fovea
