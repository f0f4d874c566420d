// A Session has only a layer, a head and tokens that its source has.
#include "study/fitting_session.h"

#include <doctest/doctest.h>

#include "input/open_source.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "views/views.h"

namespace fovea::test {
namespace {

const std::string of_128 = "synthetic:clusters?n=128&d=8&heads=2&seed=1";
const std::string of_32 = "synthetic:clusters?n=32&d=8&heads=1&seed=1";

/// A Session of the head of 128 tokens, with something of its last tokens.
Session of_last_tokens() {
  Session session = standard_session(of_128, 128);
  session.head = 1;
  session.viewport = {100, 128, 0, 128};
  session.pinned_query = 100;
  session.spans = {{.name = "end", .tokens = {120, 128}}};
  return session;
}

}  // namespace

TEST_CASE("what a session has beyond its source is dropped, and what fits stays") {
  const Session session = of_last_tokens();
  CHECK(fitting_session(session, open_source(of_128)) == session);
  const Session shorter = fitting_session(session, open_source(of_32));
  CHECK(shorter.head == 0);
  CHECK(shorter.viewport == Viewport{0, 32, 0, 32});
  CHECK_FALSE(shorter.pinned_query);
  CHECK(shorter.spans == session.spans);
  CHECK(shorter.columns == session.columns);
}

TEST_CASE("a session of a longer head opens without what it has of the tokens beyond") {
  Study study(std::make_unique<CpuLike>());
  Session session = of_last_tokens();
  session.head = 0;
  study.open(of_32, session);
  REQUIRE(wait_until([&] { return study.source() != nullptr; }));
  CHECK_FALSE(study.session().pinned_query);
  CHECK(study.session().viewport == Viewport{0, 32, 0, 32});
}

TEST_CASE("no query is pinned that the head does not have") {
  Study study(std::make_unique<CpuLike>());
  SessionEditor editor(study);
  open(study, of_32, {"exact"}, {find_view("heatmap")});
  editor.start();
  editor.pin(31);
  editor.pin(32);
  editor.pin(-1);
  CHECK(study.session().pinned_query == 31);
  editor.change("pin", [](Session& s) { s.pinned_query = 32; });
  CHECK_FALSE(study.session().pinned_query);
}

}  // namespace fovea::test
