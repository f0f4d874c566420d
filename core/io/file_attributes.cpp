#include "io/file_attributes.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {
namespace {

constexpr const char* access_list = "system.posix_acl_access";
constexpr std::string_view user_names = "user.";

/// A path in /proc: attributes of a descriptor of O_PATH can be read only by it.
std::string path_of(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::string names_of_attributes(int file) {
  const ssize_t size = ::listxattr(path_of(file).c_str(), nullptr, 0);
  std::string names(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  const ssize_t got = ::listxattr(path_of(file).c_str(), names.data(), names.size());
  names.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return names;
}

bool copy_attribute(const char* name, int from, int to) {
  const ssize_t size = ::getxattr(path_of(from).c_str(), name, nullptr, 0);
  if (size < 0) return false;
  std::vector<char> value(size);
  const ssize_t got = ::getxattr(path_of(from).c_str(), name, value.data(), value.size());
  return got == size && ::fsetxattr(to, name, value.data(), value.size(), 0) == 0;
}

void copy_user_attributes(int from, int to) {
  const std::string names = names_of_attributes(from);
  for (std::size_t at = 0; at < names.size(); at = names.find('\0', at) + 1)
    if (const char* name = names.c_str() + at; std::string_view(name).starts_with(user_names))
      copy_attribute(name, from, to);
}

bool lacks_list(int error) {
  return error == ENODATA || error == EOPNOTSUPP;
}

/// Whether `to` has the access list of `from` now, or none if `from` has none: a new file inherits
/// the default list of its folder.
bool take_access_list(int from, int to) {
  if (copy_attribute(access_list, from, to)) return true;
  if (::getxattr(path_of(from).c_str(), access_list, nullptr, 0) >= 0 || !lacks_list(errno))
    return false;
  return ::fremovexattr(to, access_list) == 0 || lacks_list(errno);
}

mode_t umask_of_process() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Umask:"))
      return static_cast<mode_t>(std::stoul(line.substr(line.find(':') + 1), nullptr, 8));
  return 0;
}

}  // namespace

void take_attributes(int from, int to) {
  struct stat status {};
  if (::fstat(from, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const bool has_group =
      ::fchown(to, status.st_uid, status.st_gid) == 0 || ::fchown(to, -1, status.st_gid) == 0;
  const bool has_list = take_access_list(from, to);
  copy_user_attributes(from, to);
  mode_t mode = status.st_mode & 0777;
  if (!has_group || !has_list)
    mode = (mode & (S_IRWXU | S_IRWXO)) | (mode & ((mode & S_IRWXO) << 3));
  ::fchmod(to, mode);
}

void apply_umask(int file) {
  struct stat status {};
  if (::fstat(file, &status) == 0 && (status.st_mode & 0777) == 0666)
    ::fchmod(file, 0666 & ~umask_of_process());
}

}  // namespace fovea
