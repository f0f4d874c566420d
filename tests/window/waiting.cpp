// The window never waits: files are written and devices are looked for in the background.
#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QInputDialog>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "window/busy_background.h"
#include "window/harness.h"

namespace fovea::test {
TEST_CASE("figures and sessions are written in the background, even after the window closes") {
  QTemporaryDir dir;
  const QString figure = dir.filePath("f.pdf"), session = dir.filePath("s.fovea.json");
  BusyBackground busy;
  {
    MainWindow window(make_low_priority_backend(), busy.background);
    window.show();
    window.open(small);
    REQUIRE(wait_until([&] { return window.study().settled(); }));
    window.exports().export_to(figure, FigureStyle{});
    window.files().save_session_to(session);
    CHECK_FALSE(QFile::exists(figure));  // the window goes on while nothing can be written
    CHECK_FALSE(QFile::exists(session));
    window.close();
  }
  busy.released.set_value();
  busy.background.reset();  // the end of the program waits for its files
  CHECK(QFile(figure).size() > 1000);
  CHECK(read_session(session.toStdString()).session.source == small.toStdString());
}

TEST_CASE("CUDA devices are looked for in the background, then the choice is shown once") {
  BusyBackground busy;
  MainWindow window(make_low_priority_backend({.backend = "cpu"}), busy.background);
  window.show();
  window.open(small);
  REQUIRE(wait_until([&] { return window.study().settled(); }));
  const auto dialog = [&] { return window.findChild<QInputDialog*>(); };
  int shown = 0;
  QTimer looking;
  QObject::connect(&looking, &QTimer::timeout, &window, [&] {
    if (!dialog()) return;
    shown += dialog()->labelText().contains("Computing on CPU");
    dialog()->reject();
  });
  looking.start(20);
  auto* action = window.findChild<QAction*>("back_end");
  action->trigger();
  action->trigger();  // while it looks for devices there is no second question
  CHECK(shown == 0);  // it returned at once
  busy.released.set_value();
  CHECK(wait_until([&] { return action->isEnabled(); }));
  QTest::qWait(300);
  CHECK(shown == 1);
  CHECK_FALSE(dialog());
}

TEST_CASE("a session that cannot be written while the window closes does no harm") {
  const QString last =
      QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + "/last.fovea.json";
  QFile::remove(last);
  REQUIRE(QDir().mkpath(last));  // a folder of that name cannot be written
  {
    Window window(small);
    window.close();
  }
  QApplication::processEvents();
  CHECK(QDir().rmdir(last));
}

}  // namespace fovea::test
