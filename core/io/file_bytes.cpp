#include "io/file_bytes.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "data/error.h"
#include "data/memory.h"

namespace fovea {
namespace {

/// Closes a descriptor unless it was released.
class Closing {
 public:
  explicit Closing(int descriptor) : descriptor_(descriptor) {}
  ~Closing() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// Whether the file lies on a file system that holds the kernel's own state. Its files look like
/// regular ones, but their sizes mean nothing, and reading may wait for ever or change something.
bool is_of_kernel(int descriptor) {
  struct statfs system {};
  if (::fstatfs(descriptor, &system) != 0) return false;
  constexpr std::array kinds{PROC_SUPER_MAGIC,   SYSFS_MAGIC,      DEBUGFS_MAGIC,
                             TRACEFS_MAGIC,      SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
                             CGROUP2_SUPER_MAGIC};
  return std::ranges::any_of(kinds, [&](auto kind) { return system.f_type == kind; });
}

}  // namespace

std::string FileBytes::Version::text() const {
  const std::time_t time = seconds;
  std::tm local{};
  std::array<char, 32> date{}, fraction{};
  if (!::localtime_r(&time, &local) ||
      std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S", &local) == 0)
    return std::to_string(size) + " bytes";
  std::snprintf(fraction.data(), fraction.size(), ".%03d", static_cast<int>(nanoseconds / 1000000));
  return std::to_string(size) + " bytes of " + date.data() + fraction.data();
}

FileBytes::FileBytes(std::string path, Between between) : path_(std::move(path)) {
  const int descriptor = open();
  Closing closing(descriptor);
  if (is_of_kernel(descriptor))
    throw InputError(path_, "is made by the system as it is read; expected a file on a disk");
  version_ = version_of(descriptor);
  if (version_.size == 0) throw InputError(path_, "is empty; expected a file with content");
  if (between == Between::keep_open) descriptor_ = closing.release();
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int FileBytes::open() const {
  // Without O_NONBLOCK, opening a pipe would wait until another process writes to it.
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) return descriptor;
  if (errno == ENOENT) throw InputError(path_, "there is no such file");
  throw InputError(path_, std::string("cannot be opened: ") + std::strerror(errno));
}

FileBytes::Version FileBytes::version_of(int descriptor) const {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw InputError(path_, "is a directory; expected a file");
  if (!S_ISREG(status.st_mode)) throw InputError(path_, "is a device or pipe; expected a file");
  return {.device = static_cast<Index>(status.st_dev),
          .inode = static_cast<Index>(status.st_ino),
          .size = status.st_size,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

void FileBytes::read(Index begin, std::span<std::byte> out) const {
  if (descriptor_ >= 0) return read_from(descriptor_, begin, out);
  const int descriptor = open();
  const Closing closing(descriptor);
  read_from(descriptor, begin, out);
}

void FileBytes::read_from(int descriptor, Index begin, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor, out.data(), out.size(), begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;  // the file is shorter than it was
    out = out.subspan(got);
    begin += got;
  }
  // Compared after reading, so that everything read is of the version that was opened.
  const Version now = version_of(descriptor);
  require_same(now, "open it again");
  if (!out.empty())
    throw ChangedError(
        path_, "was changed while it was read; expected " + version_.text() + "; open it again");
}

void FileBytes::require_same(const Version& now, const char* advice) const {
  if (now == version_) return;
  const std::string found = now.text(), expected = version_.text();
  throw ChangedError(path_,
                     "was changed after it was opened: " +
                         (found == expected ? "another file of the same size and time" : found) +
                         "; expected " + expected + "; " + advice);
}

void FileBytes::require_same(const FileBytes& other, const char* advice) const {
  require_same(other.version_, advice);
}

std::shared_ptr<const FileBytes> FileBytes::closed() const {
  return std::shared_ptr<const FileBytes>(new FileBytes(path_, version_));
}

std::string FileBytes::text(const std::stop_token& stop) const {
  require_memory(size(), path_);
  std::string content(static_cast<std::size_t>(size()), '\0');
  read_in_pieces(*this, 0, std::as_writable_bytes(std::span(content)), stop);
  return content;
}

void require_readable_file(const std::string& path) {
  const FileBytes file(path);
}

}  // namespace fovea
