// The real program: what it takes from its command line, and how it ends when it is killed,
// crashes, gets signals or loses its display.
#include <doctest/doctest.h>
#include <signal.h>

#include <QElapsedTimer>
#include <QProcess>
#include <filesystem>

#include "input/recovery_file.h"
#include "temporary_directory.h"
#include "window/harness.h"
#include "window/recovery_folder.h"
#include "window/widgets/text.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

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
  /// Whether the next start opens what was open last.
  bool has_last_session() const { return fs::exists(home_ / "config/Fovea/Fovea/last.fovea.json"); }
  bool keeps() {
    return wait_until([this] { return !kept_in(folder()).empty(); });
  }
  void signal(int number) {
    REQUIRE(process_.state() == QProcess::Running);  // kill(0) would end the tests
    ::kill(static_cast<pid_t>(process_.processId()), number);
  }
  bool ends(int limit_ms = 60000) { return process_.waitForFinished(limit_ms); }
  int status() const { return process_.exitCode(); }
  bool crashed() const { return process_.exitStatus() == QProcess::CrashExit; }
  QString errors() { return process_.readAllStandardError(); }

 private:
  TemporaryDirectory home_;
  QProcess process_;
};

}  // namespace

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
  CHECK(crashed.errors().contains("fovea: crashed. If the session was kept"));
  CHECK(RecoverySearch::of(crashed.folder()).sessions.size() == 1);

  for (const int signal : {SIGINT, SIGTERM}) {
    Program ended({small});
    REQUIRE(ended.keeps());
    QElapsedTimer clock;
    clock.start();
    ended.signal(signal);
    REQUIRE(ended.ends());
    // Where others use the machine it may not end within 3 s: then it is ended, and loses nothing.
    const bool in_time = clock.elapsed() < 3000;
    const bool as_usual = ended.status() == (signal == SIGINT ? 130 : 0);
    CHECK((as_usual || ended.status() == 128 + signal));
    if (in_time) CHECK(as_usual);
    if (in_time) CHECK(files_in(ended.folder()) == 0);
    const auto left = RecoverySearch::of(ended.folder()).sessions.size();
    CHECK((left == 1 || ended.has_last_session()));
  }
}

TEST_CASE("a signal that the program sends to itself closes no window when others send it") {
  Program program({small});
  REQUIRE(program.keeps());
  program.signal(SIGUSR2);
  CHECK_FALSE(program.ends(1500));
  program.signal(SIGTERM);
  CHECK(program.ends());
}

TEST_CASE("where the display ends, the program ends with a message and its session stays") {
  QProcess server;
  server.setStandardErrorFile(QProcess::nullDevice());
  server.start("Xvfb", {"-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"});
  REQUIRE(server.waitForReadyRead(60000));
  const QString display = ":" + QString(server.readLine()).trimmed();
  Program program({small}, display);
  REQUIRE(program.keeps());
  server.terminate();  // killed, it would leave its lock file in /tmp
  server.waitForFinished();
  REQUIRE(program.ends());
  CHECK(program.status() == 4);
  CHECK(program.errors().contains("fovea: the display is gone"));
  CHECK(RecoverySearch::of(program.folder()).sessions.size() == 1);
}

TEST_CASE("--memory half replaces the memory budget that was kept") {
  // 94 MiB as tensors; a window without a source keeps no session.
  Program program({"--memory", "half", "synthetic:gaussian?n=16000&d=256"}, {},
                  "[General]\nmemory=64M\n");
  CHECK(program.keeps());
}

}  // namespace fovea::test
