// FileLocks are locks on the bytes of a file, with which processes on one or more machines share
// work. The locks of a process end with it, however it ends.
#pragma once

#include <sys/types.h>

#include <string>

#include "io/directory.h"

namespace fovea {

class FileLocks {
 public:
  enum class Kind { shared, exclusive };

  /// Makes the file if it is not there. A link is not followed. Throws UnavailableError.
  explicit FileLocks(const std::string& path);
  /// Locks a file of a folder. Throws as Directory::open does.
  FileLocks(const Directory& folder, const std::string& name);
  FileLocks(const FileLocks&) = delete;
  FileLocks& operator=(const FileLocks&) = delete;

  /// Takes the lock and returns true unless somebody else holds the byte. A lock that this object
  /// holds already changes its kind. On a file system without locks every lock is granted. Throws
  /// UnavailableError.
  bool try_lock(off_t byte, Kind kind);
  void wait_for(off_t byte, Kind kind);
  void release(off_t byte);

  /// Whether some lock was granted only because the file system has none.
  bool are_missing() const { return missing_; }

  int descriptor() const { return file_.get(); }

 private:
  bool set(off_t byte, short type, bool wait);

  std::string path_;
  Descriptor file_;
  bool missing_ = false;
};

}  // namespace fovea
