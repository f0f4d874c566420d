#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ext/stdio_filebuf.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include "data/error.h"
#include "data/stop.h"
#include "io/file_attributes.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

using Writing = std::function<void(std::ostream&)>;

constexpr std::string_view temporary_begin = ".fovea-", temporary_end = ".part";

UnavailableError refusal(const std::string& path) {
  return UnavailableError(path + " cannot be written: " + std::strerror(errno));
}

std::string new_temporary_name() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != ssize_t{random.size()})
    throw UnavailableError(std::string("no random numbers: ") + std::strerror(errno));
  std::string name(temporary_begin);
  for (const unsigned char byte : random) name += letters[byte % letters.size()];
  return name.append(temporary_end);
}

enum class Locked { yes, taken, impossible };

Locked try_lock(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Locked::yes;
  return errno == EWOULDBLOCK ? Locked::taken : Locked::impossible;
}

/// Removes temporary files of this user whose writer was killed. A folder that cannot be listed
/// keeps them.
void remove_left_overs(const Directory& folder) {
  std::vector<std::string> names;
  try {
    names = folder.names();
  } catch (const InputError&) {
  }
  for (const std::string& name : names) {
    if (!name.starts_with(temporary_begin) || !name.ends_with(temporary_end)) continue;
    // Opened for writing, as NFS gives no exclusive lock otherwise.
    const Descriptor left(
        ::openat(folder.descriptor(), name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (left && ::fstat(left.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == ::geteuid() && try_lock(left.get()) == Locked::yes)
      ::unlinkat(folder.descriptor(), name.c_str(), 0);
  }
}

/// The temporary files that have a name, by the descriptors of their folders. Never destroyed: a
/// process may end while it writes.
struct Unfinished {
  std::mutex mutex;
  std::set<std::pair<int, std::string>> files;
};

Unfinished& unfinished() {
  static Unfinished& all = *new Unfinished;
  return all;
}

/// A temporary name of a file. The file is removed unless it was renamed.
class TemporaryName {
 public:
  explicit TemporaryName(const Directory& folder)
      : key_(folder.descriptor(), new_temporary_name()) {
    const std::scoped_lock lock(unfinished().mutex);
    unfinished().files.insert(key_);
  }
  ~TemporaryName() {
    if (!renamed_) ::unlinkat(key_.first, key_.second.c_str(), 0);
    const std::scoped_lock lock(unfinished().mutex);
    unfinished().files.erase(key_);
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const char* get() const { return key_.second.c_str(); }
  bool exists() const { return ::faccessat(key_.first, get(), F_OK, 0) == 0; }
  bool rename_to(const std::string& target) {
    renamed_ = ::renameat(key_.first, get(), key_.first, target.c_str()) == 0;
    return renamed_;
  }

 private:
  std::pair<int, std::string> key_;
  bool renamed_ = false;
};

/// A new file in a folder. It is deleted unless it becomes the target.
class TemporaryFile {
 public:
  /// `shown`: the target in messages.
  TemporaryFile(const Directory& folder, std::string target, std::string shown)
      : folder_(folder), target_(std::move(target)), shown_(std::move(shown)) {
    mode_ = old_file() ? 0600 : 0666;
    file_ = Descriptor(::openat(folder.descriptor(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode_));
    if (!file_ || ::access(path().c_str(), W_OK) != 0) {  // there may be no /proc
      open_by_name();
      return;
    }
    apply_umask(file_.get());
  }

  int descriptor() const { return file_.get(); }

  void become_target() {
    finish();
    if (!name_) {
      if (!old_file() && linked_as(target_.c_str())) return;
      take_name();  // comes last: a process that is killed before leaves nothing
    }
    if (!name_->rename_to(target_)) throw refusal(shown_);
  }

 private:
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }
  bool linked_as(const char* name) const {
    return ::linkat(AT_FDCWD, path().c_str(), folder_.descriptor(), name, AT_SYMLINK_FOLLOW) == 0;
  }
  Descriptor old_file() const {
    return Descriptor(
        ::openat(folder_.descriptor(), target_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }
  void finish() const {
    if (const Descriptor old = old_file()) take_attributes(old.get(), file_.get());
    if (::fsync(file_.get()) != 0) throw refusal(shown_);
  }

  /// Before the file is locked, another writer may take it for one that is left over and remove it;
  /// then another file is made. The number of links does not tell this, as some file systems always
  /// report 0.
  void open_by_name() {
    remove_left_overs(folder_);
    constexpr int most_attempts = 16;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      name_.emplace(folder_);
      file_ = Descriptor(::openat(folder_.descriptor(), name_->get(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_));
      if (!file_) throw refusal(shown_);
      if (try_lock(file_.get()) != Locked::taken && name_->exists()) return;
    }
    throw UnavailableError(shown_ +
                           " cannot be written: other programs remove or lock new files in its "
                           "folder; try again, or choose another folder");
  }

  void take_name() {
    remove_left_overs(folder_);
    try_lock(file_.get());
    name_.emplace(folder_);
    if (!linked_as(name_->get())) copy_to_name();
  }

  /// Some file systems make files without a name, but cannot give them a name later.
  void copy_to_name() {
    const Descriptor nameless = std::move(file_);
    open_by_name();
    off_t at = 0;
    constexpr std::size_t piece = std::size_t{1} << 30;
    ssize_t copied = 0;
    while ((copied = ::sendfile(file_.get(), nameless.get(), &at, piece)) > 0) {
    }
    if (copied < 0) throw refusal(shown_);
    finish();
  }

  const Directory& folder_;
  std::string target_, shown_;
  mode_t mode_ = 0;  // the new content may be private: nobody else may read it meanwhile
  std::optional<TemporaryName> name_;
  Descriptor file_;
};

/// Renaming over a file needs no permission to write to it. Fovea requires that permission
/// nevertheless, even of root, whom the system would let write.
void require_unprotected(int folder, const std::string& name, const std::string& shown) {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) return;
  const bool is_protected = (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
  if (is_protected) errno = EACCES;
  if (is_protected || ::faccessat(folder, name.c_str(), W_OK, 0) != 0) throw refusal(shown);
}

/// The target of the path if it is a link, even if nothing is there.
fs::path followed(fs::path path) {
  constexpr int most_links = 40;
  for (int links = 0; links <= most_links; ++links) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / target;
  }
  errno = ELOOP;
  throw refusal(path.string());
}

bool is_device(const fs::file_status& status) {
  return fs::exists(status) && !fs::is_regular_file(status);
}

std::string parent_of(const fs::path& path) {
  const std::string parent = path.parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Takes the descriptor over.
void write_to(int descriptor, const std::string& shown, const Writing& write) {
  errno = 0;
  __gnu_cxx::stdio_filebuf<char> buffer(descriptor, std::ios::out | std::ios::binary);
  std::ostream out(&buffer);
  if (out) write(out);
  if (!buffer.close()) out.setstate(std::ios::failbit);
  if (!out) throw refusal(shown);
}

void replace(const Directory& folder, const std::string& name, const std::string& shown,
             const Writing& write) {
  require_unprotected(folder.descriptor(), name, shown);
  TemporaryFile file(folder, name, shown);
  const int copy = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw refusal(shown);
  write_to(copy, shown, write);
  file.become_target();
}

Writing writing(std::string_view bytes, const std::stop_token& stop) {
  return [bytes, stop](std::ostream& out) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
      check_stop(stop);
      const std::string_view part = bytes.substr(begin, piece);
      out.write(part.data(), part.size());
    }
    check_stop(stop);
  };
}

}  // namespace

void remove_unfinished_files() {
  const std::scoped_lock lock(unfinished().mutex);
  for (const auto& [folder, name] : unfinished().files) ::unlinkat(folder, name.c_str(), 0);
}

void require_writable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  errno = EISDIR;
  if (fs::is_directory(status)) throw refusal(path);
  const std::string needed = is_device(status) ? path : parent_of(followed(path));
  if (::access(needed.c_str(), W_OK) != 0) throw refusal(path);
  require_unprotected(AT_FDCWD, path, path);
}

void write_atomically(const std::string& path, const Writing& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw UnavailableError(path + " cannot be written: it is a directory");
  if (is_device(status)) {  // renaming over /dev/null would replace the device
    const int device = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (device < 0) throw refusal(path);
    return write_to(device, path, write);
  }
  const fs::path target = followed(path);
  Descriptor opened(::open(parent_of(target).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) throw refusal(path);
  replace(Directory(std::move(opened), parent_of(target)), target.filename().string(), path, write);
}

void write_atomically(const std::string& path, std::string_view bytes,
                      const std::stop_token& stop) {
  write_atomically(path, writing(bytes, stop));
}

void write_atomically(const Directory& folder, const std::string& name, const Writing& write) {
  folder.has(name);
  replace(folder, name, folder.path_of(name), write);
}

void write_atomically(const Directory& folder, const std::string& name, std::string_view bytes,
                      const std::stop_token& stop) {
  write_atomically(folder, name, writing(bytes, stop));
}

}  // namespace fovea
