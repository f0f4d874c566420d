#include "io/atomic_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "data/error.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

UnavailableError refusal(const std::string& path) {
  return UnavailableError(path + " cannot be written: " + std::strerror(errno));
}

/// A file on the target's disk that is deleted unless it becomes the target. If the file system
/// supports it, the file has no name until then, so that nothing is left even when the process is
/// killed; otherwise it is beside the target.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), name_(target + ".part-XXXXXX") {
    const std::string parent = fs::path(target).parent_path().string();
    descriptor_ = ::open(parent.empty() ? "." : parent.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC,
                         S_IRUSR | S_IWUSR);
    nameless_ = descriptor_ >= 0 && ::access(path().c_str(), W_OK) == 0;  // is there a /proc?
    if (nameless_) return;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) throw refusal(target_);
    named_ = true;
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (named_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const {
    return named_ ? name_ : "/proc/self/fd/" + std::to_string(descriptor_);
  }

  void become_target() {
    if (::fsync(descriptor_) != 0 || ::fchmod(descriptor_, mode()) != 0) throw refusal(target_);
    if (nameless_) take_name();
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || ::rename(name_.c_str(), target_.c_str()) != 0) throw refusal(target_);
    named_ = false;
  }

 private:
  /// The mode of the old file, else that of a new file.
  mode_t mode() const {
    struct stat status {};
    if (::stat(target_.c_str(), &status) == 0) return status.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
  }

  /// A file without a name cannot replace another, so it gets a temporary, unused name first.
  void take_name() {
    const std::string unnamed = path();
    const int taken = ::mkstemp(name_.data());
    if (taken < 0) throw refusal(target_);
    ::close(taken);
    if (::unlink(name_.c_str()) != 0 ||
        ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      throw refusal(target_);
    named_ = true;
  }

  std::string target_, name_;
  int descriptor_ = -1;
  bool nameless_ = false, named_ = false;
};

void write_to(const std::string& path, const std::string& shown,
              const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (out) write(out);
  out.close();
  if (!out) throw refusal(shown);
}

}  // namespace

void require_writable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  errno = EISDIR;
  if (fs::is_directory(status)) throw refusal(path);
  const std::string parent = fs::path(path).parent_path().string();
  const std::string& needed = fs::exists(status) && !fs::is_regular_file(status) ? path : parent;
  if (::access(needed.empty() ? "." : needed.c_str(), W_OK) != 0) throw refusal(path);
}

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw UnavailableError(path + " cannot be written: it is a directory");
  // Renaming over /dev/null would replace the device.
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_to(path, path, write);
  const std::string target =
      fs::is_regular_file(status) ? fs::canonical(path, error).string() : path;
  if (error && fs::is_regular_file(status)) throw UnavailableError(path + ": " + error.message());
  TemporaryFile file(target);
  write_to(file.path(), path, write);
  file.become_target();
}

}  // namespace fovea
