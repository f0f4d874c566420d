#include "io/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "data/error.h"
#include "data/memory.h"

namespace fovea {
namespace {

InputError unreadable(const std::string& path, const char* what) {
  return {path, std::string("cannot be ") + what + ": " + std::strerror(errno)};
}

void require_regular(const std::string& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode))
    throw InputError(path,
                     "is a symbolic link; expected a file of this folder: it would lead to another "
                     "file. Remove the link, or choose another folder");
  if (S_ISDIR(status.st_mode)) throw InputError(path, "is a directory; expected a file");
  if (!S_ISREG(status.st_mode)) throw InputError(path, "is a device or pipe; expected a file");
}

}  // namespace

Directory::Directory(const std::string& path)
    : opened_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), path_(path) {
  if (!opened_) throw unreadable(path, "opened");
}

std::vector<std::string> Directory::names() const {
  Descriptor listed(::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed) throw unreadable(path_, "listed");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(listed.get()), ::closedir);
  if (!entries) throw unreadable(path_, "listed");
  listed.release();  // closed with the entries
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  if (errno != 0) throw unreadable(path_, "listed");
  std::ranges::sort(names);
  return names;
}

// Without O_NONBLOCK, opening a pipe would wait until another process writes to it.
Descriptor Directory::open(const std::string& name, int flags) const {
  constexpr int safely = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(::openat(descriptor(), name.c_str(), flags | safely, 0666));
  const int error = errno;
  struct stat status {};
  const bool is_known =
      file ? ::fstat(file.get(), &status) == 0
           : ::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_known) require_regular(path_of(name), status);
  if (file || error == ENOENT) return file;
  errno = error;
  if ((flags & O_ACCMODE) == O_RDONLY) throw unreadable(path_of(name), "opened");
  throw UnavailableError(path_of(name) + " cannot be written: " + std::strerror(error));
}

bool Directory::has(const std::string& name) const {
  struct stat status {};
  if (::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    throw unreadable(path_of(name), "opened");
  }
  require_regular(path_of(name), status);
  return true;
}

std::string Directory::text(const std::string& name) const {
  const Descriptor file = open(name, O_RDONLY);
  if (!file) throw InputError(path_of(name), "there is no such file");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw unreadable(path_of(name), "read");
  require_memory(status.st_size, path_of(name));
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unreadable(path_of(name), "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace fovea
