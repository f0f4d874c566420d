#include "live/live_address.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QRandomGenerator>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "data/error.h"

namespace fovea {

std::string live_folder() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = given && *given == '/' ? std::string(given) + "/fovea"
                                                    : "/tmp/fovea-" + std::to_string(::getuid());
  const auto refuse = [&](const std::string& why) {
    return UnavailableError(folder + " " + why +
                            ": programs cannot send to this window; a folder of your own that "
                            "nobody else can enter is expected");
  };
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw refuse(std::string("cannot be made (") + std::strerror(errno) + ")");
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0)
    throw refuse(std::string("cannot be read (") + std::strerror(errno) + ")");
  if (!S_ISDIR(status.st_mode)) throw refuse("is not a folder");
  if (status.st_uid != ::getuid()) throw refuse("belongs to another user");
  if ((status.st_mode & 077) != 0) throw refuse("can be entered by others");
  return folder;
}

std::string live_socket_path(const std::string& folder) {
  return folder + "/live.sock";
}

std::optional<uid_t> user_at(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return peer.uid;
}

std::string make_live_token() {
  std::array<quint32, 8> words{};
  QRandomGenerator::system()->fillRange(words.data(), words.size());
  std::string token;
  for (const quint32 word : words) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", word);
    token += digits.data();
  }
  return token;
}

bool same_token(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

void remove_old_live_tokens(const std::string& folder) {
  DIR* const all = ::opendir(folder.c_str());
  if (!all) return;
  while (const dirent* entry = ::readdir(all)) {
    if (!std::string_view(entry->d_name).starts_with("token-")) continue;
    const std::string path = folder + "/" + entry->d_name;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
  ::closedir(all);
}

LiveTokenFile::LiveTokenFile(const std::string& folder, int port, const std::string& token)
    : path_(folder + "/token-" + std::to_string(port)) {
  constexpr int most_attempts = 16;
  for (int attempt = 0; !is_held(); ++attempt) {
    if (attempt == most_attempts)
      throw UnavailableError(path_ + " cannot be written: other windows remove it; try again");
    ::unlink(path_.c_str());
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_) throw UnavailableError(path_ + " cannot be written: " + std::strerror(errno));
  }
  const std::string line = token + "\n";
  errno = ENOSPC;  // unless write() says otherwise
  if (::write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  const int error = errno;
  ::unlink(path_.c_str());
  throw UnavailableError(path_ + " cannot be written: " + std::strerror(error));
}

LiveTokenFile::~LiveTokenFile() {
  ::unlink(path_.c_str());
}

// Before the file is locked, another window that starts may take it for an old one and remove it.
// If the folder has no locks, no window removes the files of others.
bool LiveTokenFile::is_held() const {
  if (!file_) return false;
  const bool is_taken = ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return !is_taken && ::access(path_.c_str(), F_OK) == 0;
}

}  // namespace fovea
