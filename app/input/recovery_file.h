// A RecoveryFile holds the session of a running window. If the program ends without removing it (a
// crash, kill -9, a lost display), the next start finds it. A lock on a file beside it says whether
// its window still runs: the system releases the lock however the program ends.
#pragma once

#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "input/session_file.h"
#include "io/file_locks.h"

namespace fovea {

/// Where these files are: fovea/recovery in XDG_STATE_HOME, else in ~/.local/state.
std::string recovery_folder();

/// How many days sessions that were left behind are kept, and how many of them: the newest.
inline constexpr int kept_days = 30;
inline constexpr std::size_t most_kept = 20;

class RecoveryFile {
 public:
  /// Makes the folder, and a lock file whose lock is held; the session file is made by the first
  /// write. Throws UnavailableError.
  explicit RecoveryFile(const std::string& folder);
  /// Releases the lock. A session that was written and not removed stays for the next start.
  ~RecoveryFile();
  RecoveryFile(const RecoveryFile&) = delete;
  RecoveryFile& operator=(const RecoveryFile&) = delete;

  const std::string& path() const { return path_; }

  /// From any thread. Replaces the file atomically, unless it holds this session already. Does
  /// nothing after remove(). Throws UnavailableError.
  void write(const SessionFile& file);
  /// From any thread. Removes the session and its lock file.
  void remove();

 private:
  friend struct LeftBehind;
  friend struct RecoverySearch;
  RecoveryFile(std::string path, std::unique_ptr<FileLocks> lock);

  std::string path_;  // NAME.fovea.json beside NAME.lock
  std::unique_ptr<FileLocks> lock_;
  std::mutex mutex_;
  std::string written_;  // the session that was written last
  bool exists_ = false, removed_ = false;
};

/// A session whose window has ended without removing it. Its lock is held, so that no other program
/// finds it as well.
struct LeftBehind {
  std::shared_ptr<RecoveryFile> file;
  SessionFile session;
  std::time_t written = 0;  // when it last changed, to about a second
};

struct RecoverySearch {
  std::vector<LeftBehind> sessions;   // the newest first
  std::vector<std::string> problems;  // a sentence for each file that cannot be read

  /// Finds sessions that were left behind in a folder. Damaged files are renamed to NAME.damaged.
  /// Sessions that are too old or too many are removed, and so are lock files without a session
  /// that no window holds.
  static RecoverySearch of(const std::string& folder);
};

}  // namespace fovea
