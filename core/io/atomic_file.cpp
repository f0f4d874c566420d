#include "io/atomic_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

UnavailableError refusal(const std::string& path) {
  return UnavailableError(path + " cannot be written: " + std::strerror(errno));
}

/// Renaming over a file needs no permission to write to it. We require it nevertheless, even of
/// root, whom the system would let write.
void require_unprotected(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const bool is_protected = (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
  if (is_protected) errno = EACCES;
  if (is_protected || ::access(path.c_str(), W_OK) != 0) throw refusal(path);
}

/// False where another process has the lock. Where the file system has no locks nobody has one.
bool lock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/// The temporary files that have a name. Never destroyed: a process may end while it writes.
struct Unfinished {
  std::mutex mutex;
  std::set<std::string> names;

  void add(const std::string& name) {
    const std::scoped_lock lock(mutex);
    names.insert(name);
  }
  void forget(const std::string& name) {
    const std::scoped_lock lock(mutex);
    names.erase(name);
  }
};

Unfinished& unfinished() {
  static Unfinished& files = *new Unfinished;
  return files;
}

/// A file on the target's disk that is deleted unless it becomes the target. If the file system
/// supports it, the file has no name until then, so that nothing is left when the process is killed
/// while it writes; otherwise it is beside the target.
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
    unfinished().add(name_);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (named_) ::unlink(name_.c_str());
    unfinished().forget(name_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const {
    return named_ ? name_ : "/proc/self/fd/" + std::to_string(descriptor_);
  }

  void become_target() {
    if (::fsync(descriptor_) != 0 || ::fchmod(descriptor_, mode()) != 0) throw refusal(target_);
    if (nameless_ && take_name()) return;
    if (!nameless_) {  // on a network some errors of writing are reported only now
      const int closed = ::close(descriptor_);
      descriptor_ = -1;
      if (closed != 0) throw refusal(target_);
    }
    if (::rename(name_.c_str(), target_.c_str()) != 0) throw refusal(target_);
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

  /// Whether it has taken the target's name. A file without a name cannot replace another: then it
  /// takes a name of its own first, always the same, so that a process that is killed before the
  /// renaming leaves at most this one, which the next write replaces. Its lock, which ends with the
  /// process, tells another writer of the same target whether the name is still in use.
  bool take_name() {
    const std::string unnamed = path();
    const auto link_as = [&](const std::string& name) {
      return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (link_as(target_)) return true;
    if (errno != EEXIST) throw refusal(target_);
    const fs::path target(target_);
    name_ = (target.parent_path() / ("." + target.filename().string() + ".fovea-part")).string();
    lock(descriptor_);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!link_as(name_)) {
      if (errno != EEXIST) throw refusal(target_);
      if (removed_left_over()) continue;
      if (std::chrono::steady_clock::now() > until)
        throw UnavailableError(target_ + " cannot be written: another process is writing it");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    named_ = true;
    unfinished().add(name_);
    return false;
  }

  /// Whether nothing has the name any more. A writer that lives has locked its file before it named
  /// it, so that a file which can be locked was left by a killed one.
  bool removed_left_over() const {
    const auto unlinked = [this] {
      if (::unlink(name_.c_str()) != 0 && errno != ENOENT) throw refusal(target_);
      return true;
    };
    const int left = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (left < 0) return errno == ENOENT || unlinked();  // one that cannot be read is not ours
    struct stat opened {};
    struct stat named {};
    int error = 0;
    const bool locked = lock(left);
    // Its writer may have renamed and closed it since it was opened.
    const bool same = ::fstat(left, &opened) == 0 && ::lstat(name_.c_str(), &named) == 0 &&
                      opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
    if (locked && same && ::unlink(name_.c_str()) != 0) error = errno;
    ::close(left);
    errno = error;
    if (error != 0) throw refusal(target_);
    return locked;
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

void remove_unfinished_files() {
  const std::scoped_lock lock(unfinished().mutex);
  for (const std::string& name : unfinished().names) ::unlink(name.c_str());
}

void require_writable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  errno = EISDIR;
  if (fs::is_directory(status)) throw refusal(path);
  const std::string parent = fs::path(path).parent_path().string();
  const std::string& needed = fs::exists(status) && !fs::is_regular_file(status) ? path : parent;
  if (::access(needed.empty() ? "." : needed.c_str(), W_OK) != 0) throw refusal(path);
  require_unprotected(path);
}

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw UnavailableError(path + " cannot be written: it is a directory");
  // Renaming over /dev/null would replace the device.
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_to(path, path, write);
  require_unprotected(path);
  const std::string target =
      fs::is_regular_file(status) ? fs::canonical(path, error).string() : path;
  if (error && fs::is_regular_file(status)) throw UnavailableError(path + ": " + error.message());
  TemporaryFile file(target);
  write_to(file.path(), path, write);
  file.become_target();
}

void write_atomically(const std::string& path, std::string_view bytes,
                      const std::stop_token& stop) {
  write_atomically(path, [&](std::ostream& out) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
      check_stop(stop);
      const std::string_view part = bytes.substr(begin, piece);
      out.write(part.data(), static_cast<std::streamsize>(part.size()));
    }
    check_stop(stop);
  });
}

}  // namespace fovea
