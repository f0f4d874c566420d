// A RecoveryFile keeps the session of a window while it runs. Where the program ends without
// removing it (a crash, kill -9, the display gone), the next one finds it. A lock, which ends with
// the program however it ends, tells a living window's file from one that was left behind.
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

class RecoveryFile {
 public:
  /// A new one, whose lock is held; the session comes with the first write. Makes the folder.
  /// Throws UnavailableError.
  explicit RecoveryFile(const std::string& folder);
  ~RecoveryFile();  // the session stays for the next program, where there is one
  RecoveryFile(const RecoveryFile&) = delete;
  RecoveryFile& operator=(const RecoveryFile&) = delete;

  const std::string& path() const { return path_; }

  /// From any thread. Writes atomically what was not written yet, unless it was removed. Throws
  /// UnavailableError.
  void write(const SessionFile& file);
  /// From any thread. Nothing is written afterwards.
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

/// The session of a window that has ended without removing it. Its lock is held: no other program
/// finds it meanwhile.
struct LeftBehind {
  std::shared_ptr<RecoveryFile> file;
  SessionFile session;
  std::time_t written = 0;  // when its program wrote it last
};

struct RecoverySearch {
  std::vector<LeftBehind> sessions;   // the newest first
  std::vector<std::string> problems;  // of files that cannot be read: sentences

  /// What was left behind in a folder. A damaged file is renamed to NAME.damaged and stays.
  static RecoverySearch of(const std::string& folder);
};

}  // namespace fovea
