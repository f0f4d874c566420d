// A program at the other end of the live link's Unix socket, by plain system calls.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace fovea::test {

/// A path that is too long is cut.
inline sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// Any thread may have one. No call waits for more than 10 s.
class Connection {
 public:
  explicit Connection(const std::string& path)
      : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const sockaddr_un address = unix_address(path);
    open_ =
        ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Connection() { ::close(descriptor_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False after the first error, and where nobody listens.
  bool is_open() const { return open_; }
  int descriptor() const { return descriptor_; }

  /// Returns is_open().
  bool send_all(const std::string& text) {
    for (std::size_t at = 0; open_ && at < text.size();) {
      const ssize_t sent = ::send(descriptor_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return open_ = false;
      at += static_cast<std::size_t>(sent);
    }
    return open_;
  }
  /// Empty: the connection has ended.
  std::string answer() {
    const std::string length = take(8);
    std::uint64_t bytes = 0;
    if (length.size() == 8) std::memcpy(&bytes, length.data(), 8);
    return bytes > 0 && bytes < 1 << 20 ? take(static_cast<std::size_t>(bytes)) : "";
  }

 private:
  std::string take(std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t at = 0; at < count;) {
      const ssize_t got = open_ ? ::recv(descriptor_, text.data() + at, count - at, 0) : 0;
      if (got <= 0) return {};
      at += static_cast<std::size_t>(got);
    }
    return text;
  }

  int descriptor_;
  bool open_ = false;
};

}  // namespace fovea::test
