#include "input/recovery_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <random>

#include "data/error.h"
#include "io/atomic_file.h"
#include "io/folder.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view session_ending = ".fovea.json", lock_ending = ".lock",
                           damaged_ending = ".damaged";

std::string lock_of(const std::string& path) {
  return path.substr(0, path.size() - session_ending.size()) + std::string(lock_ending);
}

/// The session file beside a lock file.
std::string session_of(const std::string& lock) {
  return lock.substr(0, lock.size() - lock_ending.size()) + std::string(session_ending);
}

/// A name for this window alone, on all machines that share the folder.
std::string new_name() {
  std::random_device random;
  std::string name = std::to_string(::getpid());
  for (int word = 0; word < 2; ++word) name += "-" + std::to_string(random());
  return name;
}

/// Whether the locked file is the one at `path`. It may have been removed between the moment it was
/// opened and the moment it was locked: such a lock keeps nobody away, as others make and lock a
/// new file of that name. Only the holder of its lock removes a lock file that is at its path.
bool is_at(const FileLocks& lock, const std::string& path) {
  struct stat locked {};
  struct stat there {};
  return ::fstat(lock.descriptor(), &locked) == 0 && ::stat(path.c_str(), &there) == 0 &&
         locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
}

/// Null if somebody else holds it or has just removed it. On a file system without locks nobody
/// knows which windows still run, so nothing is taken. Throws UnavailableError.
std::unique_ptr<FileLocks> free_lock(const std::string& path) {
  auto lock = std::make_unique<FileLocks>(path);
  const bool taken = lock->try_lock(0, FileLocks::Kind::exclusive) && !lock->are_missing();
  return taken && is_at(*lock, path) ? std::move(lock) : nullptr;
}

void remove_unused_lock(const std::string& path) {
  try {
    const auto lock = free_lock(path);
    if (lock && !fs::exists(session_of(path))) ::unlink(path.c_str());
  } catch (const std::exception&) {  // it stays in a folder that cannot be written
  }
}

/// Sessions name files and spans, which nobody else shall read.
void make_private(const std::string& path, bool folder) {
  std::error_code none;  // on an error others may read the file as before
  fs::permissions(
      path, folder ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write, none);
}

bool is_old(std::time_t written) {
  return written < std::time(nullptr) - std::time_t{kept_days} * 24 * 60 * 60;
}

std::time_t time_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mtime : 0;
}

}  // namespace

std::string recovery_folder() {
  const char* given = std::getenv("XDG_STATE_HOME");
  if (given && *given == '/') return std::string(given) + "/fovea/recovery";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.local/state/fovea/recovery";
}

RecoveryFile::RecoveryFile(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UnavailableError(folder + " cannot be made: " + error.message());
  make_private(folder, true);
  // Until it is locked, a search may take the lock file for an unused one and remove it.
  constexpr int most_attempts = 10;
  for (int attempt = 1; attempt <= most_attempts; ++attempt) {
    path_ = folder + "/" + new_name() + std::string(session_ending);
    lock_ = std::make_unique<FileLocks>(lock_of(path_));
    const bool locked = lock_->try_lock(0, FileLocks::Kind::exclusive);
    if (locked && is_at(*lock_, lock_of(path_))) return;
  }
  throw UnavailableError(folder + ": no lock file can be made there");
}

RecoveryFile::RecoveryFile(std::string path, std::unique_ptr<FileLocks> lock)
    : path_(std::move(path)), lock_(std::move(lock)), exists_(true) {}

RecoveryFile::~RecoveryFile() {
  if (!exists_ && !removed_) ::unlink(lock_of(path_).c_str());
}

void RecoveryFile::write(const SessionFile& file) {
  const std::scoped_lock lock(mutex_);
  if (removed_) return;
  std::string text = text_of(file);
  if (text == written_) return;
  write_atomically(path_, [&](std::ostream& out) { out << text; });
  if (!exists_) make_private(path_, false);
  written_ = std::move(text);
  exists_ = true;
}

// The lock file last: a search that can lock it and finds no session beside it has found nothing.
void RecoveryFile::remove() {
  const std::scoped_lock lock(mutex_);
  removed_ = true;
  ::unlink(path_.c_str());
  ::unlink(lock_of(path_).c_str());
}

RecoverySearch RecoverySearch::of(const std::string& folder) {
  RecoverySearch found;
  std::vector<std::string> paths;
  try {
    if (is_there(folder)) paths = paths_in(folder);
  } catch (const InputError& error) {
    found.problems.push_back("Sessions of windows that ended unexpectedly cannot be looked for. " +
                             std::string(error.what()));
  }
  std::error_code none;
  for (const std::string& path : paths) {
    if (path.ends_with(damaged_ending) && is_old(time_of(path))) ::unlink(path.c_str());
    if (path.ends_with(lock_ending) && !fs::exists(session_of(path), none))
      remove_unused_lock(path);
    if (!path.ends_with(session_ending)) continue;
    std::unique_ptr<FileLocks> lock;  // held until a damaged file has its new name
    try {
      lock = free_lock(lock_of(path));
      if (!lock) continue;
      if (!fs::exists(path, none)) {  // it was removed meanwhile
        ::unlink(lock_of(path).c_str());
        continue;
      }
      make_private(path, false);
      LeftBehind left{.session = read_session(path), .written = time_of(path)};
      left.file.reset(new RecoveryFile(path, std::move(lock)));
      found.sessions.push_back(std::move(left));
    } catch (const InputError& error) {
      const std::string aside = path + std::string(damaged_ending);
      fs::rename(path, aside, none);
      ::unlink(lock_of(path).c_str());
      found.problems.push_back(
          "A session of a window that ended unexpectedly cannot be read; it "
          "was kept as " +
          (none ? path : aside) + ". " + error.what());
    } catch (const UnavailableError& error) {  // a folder that cannot be written: nothing is taken
      found.problems.push_back(error.what());
    }
  }
  std::ranges::sort(found.sessions, std::greater{}, &LeftBehind::written);
  std::size_t place = 0;
  std::erase_if(found.sessions, [&](const LeftBehind& left) {
    const bool goes = ++place > most_kept || is_old(left.written);
    if (goes) left.file->remove();
    return goes;
  });
  return found;
}

}  // namespace fovea
