// A window that ends unexpectedly loses nothing: its session is offered at the next start.
#include "window/recovery.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <QDir>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTest>
#include <QThread>
#include <chrono>
#include <filesystem>
#include <semaphore>

#include "data/error.h"
#include "full_disk.h"
#include "live/blobs.h"
#include "study/background.h"
#include "temporary_directory.h"
#include "window/harness.h"
#include "window/recovery_folder.h"
#include "window/run_window.h"
#include "window/widgets/text.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

bool none_is_left_in(const std::string& folder) {
  return wait_until([&] { return files_in(folder) == 0; });
}

/// Writes what a window of a changed session leaves behind when it is killed.
void leave_behind(const std::string& folder, const QString& source = small) {
  Window window(source);
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

/// Keeps a background thread busy, as a long export or a disk that does not answer does.
class Stall {
 public:
  explicit Stall(BackgroundThread& thread) {
    thread.run([over = over_] { over->acquire(); });
  }
  ~Stall() { end(); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;
  void end() { over_->release(); }

 private:
  std::shared_ptr<std::counting_semaphore<>> over_ = std::make_shared<std::counting_semaphore<>>(0);
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

TEST_CASE("a session that was left behind is offered, and restored as it was") {
  const TemporaryDirectory folder;
  leave_behind(folder.path());
  const auto background = std::make_shared<Background>();
  MainWindow& window = start(folder.path(), background);
  // Left behind a moment ago, perhaps before midnight.
  const QRegularExpression said("^Fovea ended unexpectedly\\. Restore the session of " +
                                QRegularExpression::escape(small) +
                                " \\(2 columns\\), last changed "
                                "(on \\d+ \\w+ )?at \\d\\d:\\d\\d\\?$");
  CHECK_MESSAGE(said.match(window.recovery_bar().text()).hasMatch(),
                window.recovery_bar().text().toStdString());
  click(window, "restore");
  REQUIRE(wait_until([&] { return window.study().session().pinned_query.has_value(); }));
  Session wanted = changed(window.study().session());
  CHECK(window.study().session() == wanted);
  CHECK(window.recovery_bar().text().isEmpty());
  // It goes on in the same file, which a clean end removes.
  CHECK(wait_until([&] { return kept_in(folder.path()) == folder / "left.fovea.json"; }));
  window.close();
  CHECK(none_is_left_in(folder.path()));
  close_all();
}

TEST_CASE("a window that restores a session leaves nothing of the one that it had") {
  const TemporaryDirectory folder;
  leave_behind(folder.path());
  const auto background = std::make_shared<Background>();
  MainWindow& window = start(folder.path(), background);
  const auto sessions = [&] {
    return std::ranges::count_if(
        folder.files(), [](const std::string& name) { return name.ends_with(".fovea.json"); });
  };
  REQUIRE(wait_until([&] { return sessions() == 2; }));  // its own, and the one left behind
  click(window, "restore");
  REQUIRE(wait_until([&] { return window.study().session().pinned_query.has_value(); }));
  CHECK(wait_until([&] { return sessions() == 1; }));
  window.close();
  CHECK(none_is_left_in(folder.path()));
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
  CHECK(none_is_left_in(folder.path()));
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
  CHECK(wait_until([&] { return sessions() == 1; }));
  second.close();
  CHECK(none_is_left_in(folder.path()));
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
  CHECK(none_is_left_in(folder.path()));
}

TEST_CASE("a window for a session that is restored knows that programs do not reach it") {
  const TemporaryDirectory folder;
  leave_behind(folder.path());
  fs::copy_file(folder / "left.fovea.json", folder / "other.fovea.json");
  const auto background = std::make_shared<Background>();
  MainWindow& first =
      *open_windows({small.toStdString()}, {}, background, std::make_shared<LiveStreams>(),
                    folder.path(), [] { return false; })
           .front();
  click(first, "restore");
  click(first, "restore");
  int windows = 0;
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    auto* window = qobject_cast<MainWindow*>(widget);
    if (!window || !window->isVisible()) continue;
    ++windows;
    REQUIRE(wait_until([&] { return window->study().session().pinned_query.has_value(); }));
    window->open("live:train");
    CHECK(window->live_bar().text().startsWith("Another Fovea takes what programs send"));
  }
  CHECK(windows == 2);
  close_all();
}

TEST_CASE("a closed window's session is kept until it is saved for the next start") {
  const TemporaryDirectory folder;
  Window window(small);
  window->recovery().keep_in(folder.path());
  const auto kept = [&] {
    const std::string path = kept_in(folder.path());
    return path.empty() ? std::optional<Index>() : read_session(path).session.pinned_query;
  };
  SUBCASE("also while a long export is being written") {
    Stall stall(window->background().files);
    window.study().set_session(changed(window.study().session()));
    REQUIRE(wait_until([&] { return kept() == Index{33}; }));
    Session last = window.study().session();
    last.pinned_query = 44;
    window.study().set_session(last);  // just before the end
    window->close();
    CHECK(wait_until([&] { return kept() == Index{44}; }));
    stall.end();
    CHECK(none_is_left_in(folder.path()));
  }
  SUBCASE("and longer where the disk is full") {
    window.study().set_session(changed(window.study().session()));
    REQUIRE(wait_until([&] { return kept() == Index{33}; }));
    {
      const FullDisk disk(100);
      window.close();  // waits until all files are written
    }
    const RecoverySearch found = RecoverySearch::of(folder.path());
    REQUIRE(found.sessions.size() == 1);
    CHECK(found.sessions.front().session.session.pinned_query == Index{33});
  }
}

TEST_CASE("a session that cannot be restored is left for the next start") {
  const TemporaryDirectory folder, files;
  const auto streams = std::make_shared<LiveStreams>();
  streams->add(step("train", 0));
  const QString source = to_qt(files.write("head.safetensors", heads_blob("a", 1, 2, 128, 16)));
  leave_behind(folder.path(), source);
  {
    Window window(small);
    window->live_bar().watch(streams);
    window->recovery().keep_in(folder.path());
    window->recovery_bar().offer(RecoverySearch::of(folder.path()));
    SUBCASE("its source is damaged") {
      files.write("head.safetensors", "no tensors");
      click(*window, "restore");
      REQUIRE(wait_until([&] { return !window->info_bar().message().isEmpty(); }));
      CHECK(window->info_bar().message().contains("head.safetensors"));
    }
    SUBCASE("a stream is opened before it is there") {
      click(*window, "restore");
    }
    REQUIRE_FALSE(window.study().session().source == source.toStdString());
    window->live_bar().open_stream("train");
    REQUIRE(wait_until([&] { return window.study().session().source == "live:train"; }));
    window.close();
  }
  const RecoverySearch found = RecoverySearch::of(folder.path());
  REQUIRE(found.sessions.size() == 1);
  CHECK(found.sessions.front().session.session.source == source.toStdString());
}

TEST_CASE("the long name of a session's source does not widen the window") {
  const TemporaryDirectory folder;
  Window window(small);
  SessionFile file = window->files().session_file();
  const std::string name = std::string(200, 'a') + ".safetensors";
  file.session.source = "/home/" + name;
  RecoveryFile(folder.path()).write(file);
  RecoveryBar& bar = window->recovery_bar();
  bar.offer(RecoverySearch::of(folder.path()));
  CHECK(bar.text().contains("aaa.safetensors"));
  CHECK(bar.minimumSizeHint().width() < bar.fontMetrics().horizontalAdvance(to_qt(name)));
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

TEST_CASE("an exception on another thread is shown on the application's thread") {
  Window window(small);
  QThread thread;
  QObject there;
  there.moveToThread(&thread);
  thread.start();
  QMetaObject::invokeMethod(
      &there, [] { throw std::runtime_error("a defect on another thread"); }, Qt::QueuedConnection);
  QMetaObject::invokeMethod(
      &there, [&thread] { thread.quit(); }, Qt::QueuedConnection);
  thread.wait();
  CHECK(window->info_bar().message().isEmpty());  // this thread has handled no event meanwhile
  CHECK(wait_until([&] {
    return window->info_bar().message().startsWith("An internal error: a defect on another");
  }));
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

}  // namespace fovea::test
