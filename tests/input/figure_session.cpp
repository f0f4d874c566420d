// Sessions that figures carry.
#include <doctest/doctest.h>

#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QTemporaryDir>

#include "data/error.h"
#include "figure/figure.h"
#include "input/session_file.h"

using namespace fovea;

namespace {

const char* const figure_names[] = {"f.png", "f.svg", "f.pdf", "F.PDF"};

struct WrittenFigure {
  static QGuiApplication& application() {
    static int count = 1;
    static char name[] = "test", *words[] = {name, nullptr};
    if (!qApp) {
      qputenv("QT_QPA_PLATFORM", "offscreen");
      static QGuiApplication one(count, words);
    }
    return *qApp;
  }
  QTemporaryDir folder;
  std::string write(const char* name, const Recipe& recipe) const {
    application();
    Figure figure{.title = "A figure", .rows = {{{.body = Message{"nothing"}}}}, .recipe = recipe};
    const std::string path = folder.filePath(name).toStdString();
    const std::string lower =
        folder.filePath("lower" + QString(name).right(4).toLower()).toStdString();
    write_figure(lower, figure);
    QFile::remove(QString::fromStdString(path));
    QFile::rename(QString::fromStdString(lower), QString::fromStdString(path));
    return path;
  }
};

std::string refusal_of(const std::string& path) {
  try {
    read_session(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each kind of figure gives its session back") {
  const WrittenFigure written;
  SessionFile file{.session = standard_session("synthetic:gaussian?n=64&d=8&heads=3", 64),
                   .content_hash = "abc123",
                   .layout = {}};
  file.session.head = 2;
  file.session.pinned_query = 7;
  file.session.spans = {{"the “system” prompt & <more>", {0, 24}}};
  for (const char* name : figure_names) {
    CAPTURE(name);
    const std::string path = written.write(name, {text_of(file), "fovea render x -o f.png"});
    CHECK(is_session_file(path));
    const SessionFile found = read_session(path);
    CHECK(found.session == file.session);
    CHECK(found.content_hash == "abc123");
  }
}

TEST_CASE("a figure without a session says how it was made, or that it has none") {
  const WrittenFigure written;
  for (const char* name : figure_names) {
    CAPTURE(name);
    const std::string path = written.write(name, {{}, "fovea paper rank-map -o figure.pdf"});
    CHECK(is_session_file(path));
    CHECK(refusal_of(path) ==
          path + ": carries no session; this command makes it: fovea paper rank-map -o figure.pdf");
    CHECK(refusal_of(written.write(name, {})).find("open its source instead") != std::string::npos);
    const std::string broken = refusal_of(written.write(name, {"{\"fovea_session\": 1", {}}));
    CHECK(broken.starts_with(path));
  }
}

TEST_CASE("a photograph is no session, and stays a source") {
  WrittenFigure::application();
  const QTemporaryDir folder;
  const QString path = folder.filePath("photo.png");
  REQUIRE(QImage(8, 8, QImage::Format_RGB32).save(path));
  CHECK_FALSE(is_session_file(path.toStdString()));
  CHECK_FALSE(is_session_file(folder.filePath("missing.pdf").toStdString()));
}

TEST_CASE("a session whose source has gone names it, and what it held") {
  const SessionFile there{.session = standard_session("synthetic:golden", 64)};
  CHECK_NOTHROW(require_source("f.png", there));
  const SessionFile gone{.session = standard_session("/nowhere/heads.npz", 64),
                         .content_hash = "abc123"};
  CHECK_THROWS_WITH_AS(require_source("f.png", gone),
                       doctest::Contains("/nowhere/heads.npz is no longer there"), InputError);
  CHECK_THROWS_WITH_AS(require_source("f.png", gone), doctest::Contains("abc123"), InputError);
}
