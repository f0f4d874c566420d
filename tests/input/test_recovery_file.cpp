// Recovery files of windows that run, begin and end while others look for what was left behind.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "input/recovery_file.h"
#include "messages.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

SessionFile some_session() {
  return {.session = standard_session("synthetic:clusters?n=128&d=32&seed=1", 128)};
}

}  // namespace

TEST_CASE("lock files without a session are removed unless a window holds them") {
  const TemporaryDirectory folder;
  folder.write("unused.lock", "");
  RecoveryFile begun(folder.path());  // a window that has nothing to keep yet
  REQUIRE(folder.files().size() == 2);
  CHECK(RecoverySearch::of(folder.path()).sessions.empty());
  const auto files = folder.files();
  REQUIRE(files.size() == 1);
  CHECK(files.front() != "unused.lock");
  begun.write(some_session());
  CHECK(RecoverySearch::of(folder.path()).sessions.empty());
}

TEST_CASE("a folder that cannot be read is a problem, one that does not exist yet is not") {
  const TemporaryDirectory folder;
  CHECK(RecoverySearch::of(folder / "none").problems.empty());
  std::filesystem::create_symlink("circle", folder / "circle");
  const std::string file = folder.write("file", "");
  for (const std::string& path : {folder / "circle", file}) {
    const RecoverySearch found = RecoverySearch::of(path);
    CHECK(found.sessions.empty());
    REQUIRE(found.problems.size() == 1);
    check_says(found.problems.front(), {"Sessions of windows that ended", "looked for", path});
  }
}

TEST_CASE("the lock file of a session that was left behind stays with it") {
  const TemporaryDirectory folder;
  { RecoveryFile(folder.path()).write(some_session()); }
  REQUIRE(folder.files().size() == 2);
  CHECK(RecoverySearch::of(folder.path()).sessions.size() == 1);
  CHECK(folder.files().size() == 2);
}

TEST_CASE("a window that begins while others search keeps its lock and its session to itself") {
  const TemporaryDirectory folder;
  std::atomic<bool> over = false;
  std::atomic<int> found = 0;
  const auto search = [&] {
    while (!over) found += int(RecoverySearch::of(folder.path()).sessions.size());
  };
  std::jthread first(search), second(search);
  int without_lock = 0;
  for (int round = 0; round < 3000; ++round) {
    RecoveryFile file(folder.path());
    const std::string name = file.path().substr(0, file.path().rfind(".fovea.json"));
    without_lock += std::filesystem::exists(name + ".lock") ? 0 : 1;
    if (round % 10 == 0) file.write(some_session());
    file.remove();
  }
  over = true;
  first.join();
  second.join();
  CHECK(without_lock == 0);
  CHECK(found == 0);
  CHECK(RecoverySearch::of(folder.path()).problems.empty());
  CHECK(folder.files().empty());
}

TEST_CASE("what is kept is for its owner alone") {
  const TemporaryDirectory above;
  const std::string folder = above / "state/recovery";
  std::filesystem::create_directories(folder);
  RecoveryFile file(folder);
  file.write(some_session());
  const auto mode = [](const std::string& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  CHECK(mode(folder) == 0700);
  CHECK(mode(file.path()) == 0600);
}

TEST_CASE("sessions that were left behind are kept for a month, and at most twenty") {
  const TemporaryDirectory folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto leave = [&](int days) {
    std::string path;
    {
      RecoveryFile file(folder.path());
      file.write(some_session());
      path = file.path();
    }
    std::filesystem::last_write_time(path, now - std::chrono::hours(24 * days));
    return path;
  };
  const std::string old = leave(kept_days + 1), young = leave(kept_days - 1),
                    damaged = folder.write("x.fovea.json.damaged", "{");
  std::filesystem::last_write_time(damaged, now - std::chrono::hours(24 * (kept_days + 1)));
  CHECK(RecoverySearch::of(folder.path()).sessions.size() == 1);
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK_FALSE(std::filesystem::exists(damaged));
  CHECK(std::filesystem::exists(young));
  for (std::size_t session = 0; session < most_kept; ++session) leave(2);
  CHECK(RecoverySearch::of(folder.path()).sessions.size() == most_kept);
  CHECK_FALSE(std::filesystem::exists(young));  // the oldest of them
}

}  // namespace fovea::test
