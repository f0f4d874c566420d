// The places where programs find the window: a socket in a folder that only its user can enter, and
// for TCP a token in a file there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "io/descriptor.h"

namespace fovea {

/// $XDG_RUNTIME_DIR/fovea, else /tmp/fovea-UID. Made if it is missing. Throws UnavailableError
/// unless it is a folder of this user that nobody else can enter.
std::string live_folder();

/// The path of the window's socket in live_folder().
std::string live_socket_path(const std::string& folder);

/// The user at the other end of a Unix socket; nothing if the system does not say.
std::optional<uid_t> user_at(int descriptor);

/// 64 random hexadecimal digits.
std::string make_live_token();

/// Whether both are equal, in a time that does not depend on where they differ.
bool same_token(const std::string& a, const std::string& b);

/// Removes the files of tokens whose windows were killed.
void remove_old_live_tokens(const std::string& folder);

/// The file with the token of a port, which only its user can read. It is removed with its window.
class LiveTokenFile {
 public:
  /// Throws UnavailableError.
  LiveTokenFile(const std::string& folder, int port, const std::string& token);
  ~LiveTokenFile();
  LiveTokenFile(const LiveTokenFile&) = delete;
  LiveTokenFile& operator=(const LiveTokenFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  bool is_held() const;

  std::string path_;
  Descriptor file_;  // locked while its window lives, where the folder has locks
};

}  // namespace fovea
