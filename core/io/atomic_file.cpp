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

/// A file beside the target that is gone again unless it is moved there.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), path_(target + ".part-XXXXXX"), descriptor_(::mkstemp(path_.data())) {
    if (descriptor_ < 0) throw refusal(target_);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

  void become_target() {
    if (::fsync(descriptor_) != 0 || ::fchmod(descriptor_, mode()) != 0) throw refusal(target_);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) throw refusal(target_);
    path_.clear();
  }

 private:
  /// That of the old file, else what a new file gets.
  mode_t mode() const {
    struct stat status {};
    if (::stat(target_.c_str(), &status) == 0) return status.st_mode & 07777;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
  }

  std::string target_, path_;
  int descriptor_;
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
