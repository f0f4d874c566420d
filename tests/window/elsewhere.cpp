// Sessions that show words and pictures from other folders than their own: the window asks before
// it shows what whoever wrote the session may never have seen.
#include <doctest/doctest.h>

#include <QPushButton>

#include "input/content_hash.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "messages.h"
#include "temporary_directory.h"
#include "views/views.h"
#include "window/harness.h"

namespace fovea::test {
namespace {

struct Stranger {
  TemporaryDirectory own, others;
  // Without their models, as older sessions name them.
  std::string text = others.write("private.txt", "the cat sat on the mat"),
              picture = others.write("private.pgm", "P5 16 24 255\n" + std::string(16 * 24, 'x'));
  Window window{small};

  void open(const SessionFile& file, const TemporaryDirectory& folder) {
    window->open(small);
    REQUIRE(wait_until([&] { return shown() == small.toStdString(); }));
    write_session(folder / "s.fovea.json", file);
    window->open(QString::fromStdString(folder / "s.fovea.json"));
  }
  std::string shown() { return window.study().opening() ? "" : window.study().session().source; }
  bool asks_for(const std::string& file) {
    return wait_until([&] {
      const std::string message = window->info_bar().message().toStdString();
      return contains(message, file) && contains(message, "from another folder");
    });
  }
  bool shows(const std::string& source) {
    return wait_until([&] { return shown() == source; });
  }
};

SessionFile session_of(const std::string& source, const std::string& hash) {
  SessionFile file{.session = standard_session(source, 6), .content_hash = hash};
  file.session.views = {find_view("heatmap")};
  return file;
}

}  // namespace

TEST_CASE("the window asks before it shows words or pictures that a session does not know") {
  Stranger stranger;
  for (const std::string& source : {stranger.text, stranger.picture})
    for (const std::string& stated : {std::string(64, '0'), std::string("x"), std::string()}) {
      CAPTURE(source);
      CAPTURE(stated);
      bool was_shown = false;
      const auto watch = QObject::connect(&stranger.window.study(), &Study::opened, [&] {
        was_shown |= stranger.window.study().session().source == "content:" + source;
      });
      stranger.open(session_of(source, stated), stranger.own);
      REQUIRE(stranger.asks_for(source));
      CHECK(stranger.shown() == small.toStdString());
      CHECK_FALSE(was_shown);
      QObject::disconnect(watch);
      stranger.window->info_bar().findChild<QPushButton*>("remedy")->click();
      CHECK(stranger.shows("content:" + source));
    }
  SessionFile held = session_of("synthetic:gaussian?n=6&d=8", "");
  held.session.columns[1].held = HeldHead{.source = stranger.text, .layer = 0, .head = 0};
  stranger.open(held, stranger.own);
  CHECK(stranger.asks_for(stranger.text));
  CHECK(stranger.shown() == small.toStdString());
}

TEST_CASE("the window does not ask for what is beside a session, has its SHA-256, or was chosen") {
  Stranger stranger;
  for (const std::string& source : {stranger.text, stranger.picture}) {
    CAPTURE(source);
    const std::string hash = content_hash_of(open_source("content:" + source).files).text();
    stranger.open(session_of(source, hash), stranger.own);
    CHECK(stranger.shows("content:" + source));
    stranger.open(session_of(source, "x"), stranger.others);
    CHECK(stranger.shows("content:" + source));
    stranger.window->open(small);
    REQUIRE(stranger.shows(small.toStdString()));
    stranger.window->open(QString::fromStdString(source));
    CHECK(stranger.shows(address_of(source)));
  }
}

}  // namespace fovea::test
