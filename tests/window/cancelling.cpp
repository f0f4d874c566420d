// Opening and writing are cancelled at any time, and leave everything as it was. How soon is
// measured by tests/bench/bench_window.cpp.
#include <doctest/doctest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "window/busy_background.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

QString write(const QTemporaryDir& folder, const QString& name, const QByteArray& bytes) {
  const QString path = folder.filePath(name);
  QFile file(path);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(bytes);
  return path;
}

QByteArray read(const QString& path) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  return file.readAll();
}

QString long_text(const QTemporaryDir& folder) {
  QByteArray words;
  for (int i = 0; i < 131000; ++i) words += "word" + QByteArray::number(i * 7919 % 20011) + ' ';
  return write(folder, "long.txt", words);
}

/// 362 x 362 patches of 8 pixels: 131044 tokens.
QString large_picture(const QTemporaryDir& folder) {
  QImage image(2896, 2896, QImage::Format_RGB32);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      image.setPixel(x, y, qRgb(x * y % 251, (x + y) % 253, x % 7 * 30));
  const QString path = folder.filePath("large.png");
  REQUIRE(image.save(path));
  return path;
}

QToolButton& button(Window& window) {
  return *window->findChild<QToolButton*>("cancel_button");
}

/// What the status bar says is done.
bool says(Window& window, const QString& words) {
  return std::ranges::any_of(window->statusBar()->findChildren<QLabel*>(),
                             [&](const QLabel* label) { return label->text().contains(words); });
}

/// Opens `what` and cancels that after `ms`. Whether it was still being opened then.
bool cancelled_after(Window& window, const QString& what, int ms) {
  Study& study = window.study();
  const auto before = study.source();
  window->open(what);
  if (ms > 0) QTest::qWait(ms);
  if (!study.opening()) {
    REQUIRE(study.source() != before);  // else opening has failed
    return false;
  }
  window.trigger("cancel");
  CHECK_FALSE(study.opening());
  REQUIRE(wait_until([&] { return !study.status().busy(); }));
  CHECK(study.source() == before);
  return true;
}

/// Cancels the opening of `what` at once and after several times, until it is open sooner.
void check_opening_is_cancelled(const QString& what) {
  Window window(small);
  const Session session = window.study().session();
  for (const int ms : {0, 20, 100, 200, 350}) {
    const bool cancelled = cancelled_after(window, what, ms);
    if (ms == 0) CHECK(cancelled);
    if (!cancelled) return;
    CHECK(window.study().session() == session);
  }
  window.trigger("again");
  CHECK(window.settle());
}

}  // namespace

TEST_CASE("opening a long source is cancelled at any time, and the former head stays") {
  check_opening_is_cancelled("synthetic:needle?n=131072&d=128&heads=4&seed=1");
  check_opening_is_cancelled("synthetic:smooth?n=131072&d=128&heads=4&seed=1");
}

TEST_CASE("opening a long text and a large picture is cancelled at any time") {
  const QTemporaryDir folder;
  for (const char* as : {"content:", ""}) {  // and read by the bundled models
    check_opening_is_cancelled(as + long_text(folder));
    check_opening_is_cancelled(as + large_picture(folder));
  }
}

TEST_CASE("while a source is opened a button cancels it, and the status bar says so") {
  Window window(small);
  const auto before = window.study().source();
  window->open("synthetic:needle?n=131072&d=128&heads=8&seed=1");
  REQUIRE(wait_until([&] { return says(window, "Opening the source"); }));
  CHECK(button(window).isVisible());
  window.shoot("cancel-opening");
  button(window).click();
  CHECK_FALSE(window.study().opening());
  REQUIRE(wait_until([&] { return !button(window).isVisible(); }));
  CHECK(window.study().source() == before);
}

TEST_CASE("one message says that work was cancelled, and its button resumes it") {
  Window window(small);
  window->change("columns", [](Session& s) {
    for (Column& column : s.columns) column.seed += 1;
  });
  window->cancel();
  REQUIRE(window.study().paused());
  CHECK(window->info_bar().message() == "Cancelled.");
  REQUIRE(wait_until([&] { return window.study().model() && !window.study().status().busy(); }));
  for (const auto& row : window.study().model()->cells)
    for (const CanvasCell& cell : row) CHECK(cell.status.find("ancelled") == std::string::npos);
  auto* resume = window->info_bar().findChild<QPushButton*>("remedy");
  REQUIRE(resume->isVisible());
  CHECK(resume->text() == "Resume");
  resume->click();
  CHECK_FALSE(window.study().paused());
  REQUIRE(window.settle());
  CHECK(wait_until([&] { return window->info_bar().message().isEmpty(); }));
}

TEST_CASE("a figure that is being written is cancelled at any time, and the former file stays") {
  const QTemporaryDir folder;
  Window window(small);
  const FigureStyle style{.width = 504, .dpi = 1200};
  for (const char* name : {"figure.png", "figure.pdf", "figure.svg"}) {
    const QString path = write(folder, name, "what was there");
    for (const int ms : {0, 5, 10, 300}) {
      window->exports().export_to(path, style);
      if (ms > 0) QTest::qWait(ms);
      window.trigger("cancel");
      REQUIRE(wait_until([&] { return !window->exports().writing(); }));
      const QString said = window->statusBar()->currentMessage();
      if (ms == 0) CHECK(said.startsWith("Cancelled"));
      CHECK((read(path) == "what was there") == said.startsWith("Cancelled"));
      if (said.startsWith("Wrote")) write(folder, name, "what was there");  // sooner than that
    }
  }
  CHECK(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size() == 3);
  CHECK(window->info_bar().message().isEmpty());
  CHECK_FALSE(window.study().paused());  // only the writing was cancelled
}

TEST_CASE("a figure that waits to be written shows so, and a button cancels it") {
  const QTemporaryDir folder;
  BusyBackground busy;
  MainWindow window(make_low_priority_backend(), busy.background);
  window.show();
  window.open(small);
  REQUIRE(wait_until([&] { return window.study().settled(); }));
  auto& cancel = *window.findChild<QToolButton*>("cancel_button");
  const QString numbers = folder.filePath("numbers.csv");
  for (const char* name : {"figure.pdf", "figure.pgf", "figure.svg", "figure.png"})
    window.exports().export_to(folder.filePath(name), FigureStyle{});
  window.exports().save_numbers_to(numbers, 0, 0);
  REQUIRE(wait_until([&] { return cancel.isVisible(); }));
  cancel.click();
  CHECK_FALSE(window.exports().can_cancel());
  CHECK(window.exports().text().isEmpty());  // the next cancel is for the computing
  CHECK(window.exports().writing());
  busy.released.set_value();
  REQUIRE(wait_until([&] { return !window.exports().writing(); }));
  CHECK(QDir(folder.path()).isEmpty());
  CHECK(window.info_bar().message().isEmpty());
}

}  // namespace fovea::test
