// Sessions that show words and pictures from other folders than their own, which whoever wrote them
// may never have seen.
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/program.h"
#include "input/content_hash.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "messages.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Stranger {
  TemporaryDirectory own, others;
  std::string figure = own / "figure.svg";

  /// What rendering the session says; empty if it has written the figure.
  std::string refusal_of(const SessionFile& file, const TemporaryDirectory& folder) const {
    const std::string session = folder / "s.fovea.json";
    write_session(session, file);
    const Ended ended = run_program({"render", session, "-o", figure});
    CAPTURE(ended.err);
    CHECK(std::filesystem::remove(figure) == (ended.status == 0));
    if (ended.status == 0) return "";
    CHECK(ended.status == 3);
    CHECK(contains(ended.err, session));
    return ended.err;
  }
};

SessionFile session_of(const std::string& source, Index tokens, const std::string& hash) {
  SessionFile file{.session = standard_session(source, tokens), .content_hash = hash};
  file.session.columns.resize(1);
  file.session.views = {find_view("heatmap")};
  return file;
}

}  // namespace

TEST_CASE("render shows words and pictures of another folder by their SHA-256 alone") {
  const Stranger stranger;
  const std::string text = stranger.others.write("private.txt", "the cat sat on the mat"),
                    picture = stranger.others.write("private.pgm",
                                                    "P5 16 24 255\n" + std::string(16 * 24, 'x'));
  for (const std::string& source : {text, picture}) {
    CAPTURE(source);
    const std::string hash = content_hash_of(open_source("content:" + source).files).text();
    SessionFile file = session_of(source, 6, hash);
    CHECK(stranger.refusal_of(file, stranger.own).empty());
    for (const std::string& stated : {std::string(64, '0'), std::string("x"), std::string()}) {
      file.content_hash = stated;
      check_says(stranger.refusal_of(file, stranger.own),
                 {source, "from another folder", "SHA-256", "open " + source + " itself"});
      CHECK(stranger.refusal_of(file, stranger.others).empty());
    }
  }
}

TEST_CASE("render shows no head of a text in another folder") {
  const Stranger stranger;
  const std::string text = stranger.others.write("private.txt", "the cat sat on the mat");
  SessionFile file = session_of("synthetic:gaussian?n=6&d=8", 6, std::string(64, '0'));
  file.session.columns[0].held = HeldHead{.source = text, .layer = 0, .head = 0};
  check_says(stranger.refusal_of(file, stranger.own), {text, "does not state its SHA-256"});
  CHECK(stranger.refusal_of(file, stranger.others).empty());
}
