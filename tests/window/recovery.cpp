// A window that ends unexpectedly loses nothing: its session is offered at the next start.
#include "window/recovery.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <QDir>
#include <QProcess>
#include <QPushButton>
#include <QTest>
#include <chrono>
#include <filesystem>
#include <thread>

#include "data/error.h"
#include "full_disk.h"
#include "study/background.h"
#include "temporary_directory.h"
#include "window/harness.h"
#include "window/run_window.h"
#include "window/widgets/text.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

/// The recovery file of the only window that keeps one there; empty: there is none yet.
std::string kept_in(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().string().ends_with(".fovea.json")) return entry.path().string();
  return {};
}

std::size_t files_in(const std::string& folder) {
  std::error_code none;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder, none), {}));
}

/// What a person has made of a small head: fewer columns and views, a zoom, a pinned query.
Session changed(Session session) {
  session.columns.resize(2);
  session.views = {View::heatmap, View::mask};
  session.viewport = {10, 74, 20, 84};
  session.pinned_query = 33;
  return session;
}

/// Writes what a window of a changed session leaves behind when it is killed.
void leave_behind(const std::string& folder) {
  Window window(small);
  window->recovery().keep_in(folder);
  window.study().set_session(changed(window.study().session()));
  REQUIRE(wait_until([&] {
    const std::string path = kept_in(folder);
    return !path.empty() && read_session(path).session.pinned_query == Index{33};
  }));
  // As the process would leave it: the file stays, and nobody holds its lock.
  const std::string kept = read_bytes(kept_in(folder));
  window.close();
  write_bytes(folder + "/left.fovea.json", kept);
}

/// The real program on the display of the tests, with settings and state of its own.
class Program {
 public:
  explicit Program(const QStringList& arguments, const QString& display = {},
                   const std::string& settings = "") {
    fs::create_directories(home_ / "config/Fovea");
    home_.write("config/Fovea/Fovea.conf", settings);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("XDG_STATE_HOME", to_qt(home_ / "state"));
    environment.insert("XDG_CONFIG_HOME", to_qt(home_ / "config"));
    environment.insert("XDG_RUNTIME_DIR", to_qt(home_.path()));
    if (!display.isEmpty()) environment.insert("DISPLAY", display);
    process_.setProcessEnvironment(environment);
    process_.start(FOVEA_PROGRAM, arguments);
  }
  ~Program() {
    process_.kill();
    process_.waitForFinished();
  }

  std::string folder() const { return home_ / "state/fovea/recovery"; }
  bool keeps() {
    return wait_until([this] { return !kept_in(folder()).empty(); }, 60000);
  }
  void signal(int number) { ::kill(static_cast<pid_t>(process_.processId()), number); }
  bool ends(int limit_ms = 20000) { return process_.waitForFinished(limit_ms); }
  int status() const { return process_.exitCode(); }
  bool crashed() const { return process_.exitStatus() == QProcess::CrashExit; }
  QString errors() { return process_.readAllStandardError(); }

 private:
  TemporaryDirectory home_;
  QProcess process_;
};

MainWindow& start(const std::string& folder, std::shared_ptr<Background> background) {
  return *open_windows({small.toStdString()}, {}, background, {}, folder).front();
}

void click(MainWindow& window, const char* button) {
  window.findChild<QPushButton*>(button)->click();
}

/// Closes all windows, and waits until they are gone.
void close_all() {
  QApplication::closeAllWindows();
  QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

}  // namespace

TEST_CASE("--memory half replaces the memory budget that was kept") {
  // 94 MiB as tensors; a window without a source keeps no session.
  Program program({"--memory", "half", "synthetic:gaussian?n=16000&d=256"}, {},
                  "[General]\nmemory=64M\n");
  CHECK(program.keeps());
}

TEST_CASE("a session that was left behind is offered, and restored as it was") {
  const TemporaryDirectory folder;
  leave_behind(folder.path());
  const auto background = std::make_shared<Background>();
  MainWindow& window = start(folder.path(), background);
  CHECK(window.recovery_bar().text().startsWith("Fovea ended unexpectedly at "));
  CHECK(window.recovery_bar().text().endsWith("Restore the session of " + small + ", 2 columns?"));
  click(window, "restore");
  REQUIRE(wait_until([&] { return window.study().session().pinned_query.has_value(); }));
  Session wanted = changed(window.study().session());
  CHECK(window.study().session() == wanted);
  CHECK(window.recovery_bar().text().isEmpty());
  // It goes on in the same file, which a clean end removes.
  CHECK(wait_until([&] { return kept_in(folder.path()) == folder / "left.fovea.json"; }));
  window.close();
  CHECK(files_in(folder.path()) == 0);
  close_all();
}

TEST_CASE("a session is forgotten, or kept for the next start, as a person says") {
  const TemporaryDirectory folder;
  const auto background = std::make_shared<Background>();
  leave_behind(folder.path());
  MainWindow& first = start(folder.path(), background);
  click(first, "keep");
  CHECK(first.recovery_bar().isHidden());
  first.close();
  CHECK(fs::exists(folder / "left.fovea.json"));
  MainWindow& second = start(folder.path(), background);
  CHECK(second.recovery_bar().isVisible());
  click(second, "discard");
  second.close();
  CHECK(files_in(folder.path()) == 0);
  close_all();
}

TEST_CASE("windows that run are no others' to restore, and each keeps a session of its own") {
  const TemporaryDirectory folder;
  const auto background = std::make_shared<Background>();
  MainWindow& first = start(folder.path(), background);
  MainWindow& second = start(folder.path(), background);
  const auto sessions = [&] {
    return std::ranges::count_if(
        folder.files(), [](const std::string& name) { return name.ends_with(".fovea.json"); });
  };
  CHECK(wait_until([&] { return sessions() == 2; }));
  CHECK(second.recovery_bar().isHidden());
  CHECK(RecoverySearch::of(folder.path()).sessions.empty());
  first.close();
  CHECK(sessions() == 1);
  second.close();
  CHECK(files_in(folder.path()) == 0);
  close_all();
}

TEST_CASE("two sessions that were left behind are restored in two windows") {
  const TemporaryDirectory folder;
  leave_behind(folder.path());
  fs::copy_file(folder / "left.fovea.json", folder / "other.fovea.json");
  const auto background = std::make_shared<Background>();
  MainWindow& window = start(folder.path(), background);
  CHECK(window.recovery_bar().text().endsWith("(1 more)"));
  const auto windows = [] {
    return std::ranges::count_if(QApplication::topLevelWidgets(), [](QWidget* widget) {
      return qobject_cast<MainWindow*>(widget) && widget->isVisible();
    });
  };
  const auto before = windows();
  click(window, "restore");
  click(window, "restore");
  CHECK(windows() == before + 1);
  CHECK(wait_until([&] { return files_in(folder.path()) == 4; }));  // and two locks
  close_all();
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a damaged recovery file is reported and kept aside") {
  const TemporaryDirectory folder;
  folder.write("bad.fovea.json", R"({"fovea_session": 1, "source": )");
  const auto background = std::make_shared<Background>();
  MainWindow& window = start(folder.path(), background);
  CHECK(window.recovery_bar().isHidden());
  REQUIRE(wait_until([&] { return window.study().settled(); }));  // opening hides other messages
  CHECK(window.info_bar().message().contains("bad.fovea.json.damaged"));
  CHECK(fs::exists(folder / "bad.fovea.json.damaged"));
  CHECK_FALSE(fs::exists(folder / "bad.fovea.json"));
  close_all();
}

TEST_CASE("an exception that nobody caught is shown, the session is kept, the window goes on") {
  const TemporaryDirectory folder;
  Window window(small);
  window->recovery().keep_in(folder.path());
  QMetaObject::invokeMethod(
      &*window, [] { throw std::runtime_error("a defect of the test"); }, Qt::QueuedConnection);
  REQUIRE(wait_until([&] { return !window->info_bar().message().isEmpty(); }));
  CHECK(window->info_bar().message().startsWith("An internal error: a defect of the test. "));
  CHECK(window->info_bar().message().contains(to_qt(kept_in(folder.path()))));
  CHECK(read_session(kept_in(folder.path())).session == window.study().session());
  window.study().set_session(changed(window.study().session()));
  CHECK(window.settle());
}

TEST_CASE("a full disk or a folder that cannot be made is said once, and the window works") {
  const TemporaryDirectory folder;
  Window window(small);
  const std::string file = folder.write("file", "no folder");
  window->recovery().keep_in(file + "/recovery");
  CHECK(window->info_bar().message().startsWith(
      "If Fovea should end unexpectedly, this session is lost: "));
  window->info_bar().hide();
  Window other(small);
  {
    const FullDisk disk(100);
    other->recovery().keep_in(folder.path());
    CHECK(wait_until([&] { return other->info_bar().message().contains("lost: "); }));
  }
  other->info_bar().hide();
  CHECK(kept_in(folder.path()).empty());
  other.study().set_session(changed(other.study().session()));
  CHECK(wait_until([&] { return !kept_in(folder.path()).empty(); }));
  CHECK(other->info_bar().message().isEmpty());
  other.close();
  CHECK(folder.files() == std::vector<std::string>{"file"});
}

TEST_CASE("the program that is killed leaves its session, and one that ends leaves nothing") {
  const TemporaryDirectory scratch;
  const std::string session = scratch / "mine.fovea.json";
  Session wanted;
  {
    Window window(small);
    window.study().set_session(wanted = changed(window.study().session()));
    REQUIRE(window.save(to_qt(session)));
  }
  Program killed({to_qt(session)});
  REQUIRE(killed.keeps());
  killed.signal(SIGKILL);
  REQUIRE(killed.ends());
  RecoverySearch found = RecoverySearch::of(killed.folder());
  REQUIRE(found.sessions.size() == 1);
  CHECK(found.sessions.front().session.session == wanted);

  Program crashed({small});
  REQUIRE(crashed.keeps());
  crashed.signal(SIGSEGV);
  REQUIRE(crashed.ends());
  CHECK(crashed.crashed());
  CHECK(crashed.errors().contains("fovea: it crashed. The session was kept"));
  CHECK(RecoverySearch::of(crashed.folder()).sessions.size() == 1);

  for (const int signal : {SIGINT, SIGTERM}) {
    Program ended({small});
    REQUIRE(ended.keeps());
    ended.signal(signal);
    REQUIRE(ended.ends());
    CHECK(ended.status() == (signal == SIGINT ? 130 : 0));
    CHECK(files_in(ended.folder()) == 0);
  }
}

TEST_CASE("where the display ends, the program ends with a message and its session stays") {
  QProcess server;
  server.setStandardErrorFile(QProcess::nullDevice());
  server.start("Xvfb", {"-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"});
  REQUIRE(server.waitForReadyRead(20000));
  const QString display = ":" + QString(server.readLine()).trimmed();
  Program program({small}, display);
  REQUIRE(program.keeps());
  server.kill();
  server.waitForFinished();
  REQUIRE(program.ends());
  CHECK(program.status() == 4);
  CHECK(program.errors().contains("fovea: the display is gone"));
  CHECK(RecoverySearch::of(program.folder()).sessions.size() == 1);
}

}  // namespace fovea::test
