// A sweep beside the work of a Study: when it is out of date, and when it ends.
#include "study/sweep_run.h"

#include <doctest/doctest.h>

#include "study/background.h"
#include "study/opened.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// A study of a short head in two columns, and a sweep over it.
struct Swept {
  Study study{make_low_priority_backend({.backend = "cpu", .threads = 1})};
  SweepRun run{study};

  Swept() {
    open(study, "synthetic:clusters?n=512&d=16&seed=1", {"exact", "hyper"}, {find_view("heatmap")});
    REQUIRE(wait_until([&] { return study.settled(); }));
  }
  bool measures() {
    return wait_until([&] { return !run.sweep().series[0].points.empty(); });
  }
};

}  // namespace

TEST_CASE("a sweep of other parameters goes on and is out of date") {
  Swept s;
  s.run.start({}, "");
  REQUIRE(s.measures());
  CHECK_FALSE(s.run.stale());
  set_seed(s.study, 1, 9);
  CHECK(s.run.stale());
  REQUIRE(wait_until([&] { return s.study.settled(); }));
  CHECK((s.run.running() || s.run.complete()));
}

TEST_CASE("a sweep ends when its head is left") {
  Swept s;
  s.run.start({}, "");
  REQUIRE(s.measures());
  REQUIRE(s.run.running());
  Session session = s.study.session();
  session.conditions.causal = true;
  s.study.set_session(session);
  CHECK(wait_until([&] { return !s.run.running(); }));
  CHECK_FALSE(s.run.complete());
  CHECK(s.run.stale());
}

TEST_CASE("a sweep is measured although everything was cancelled before") {
  Swept s;
  s.study.cancel();
  s.run.start({}, "");
  CHECK(s.run.running());
  CHECK(s.measures());
}

TEST_CASE("a sweep that is started without a head changes nothing") {
  Swept s;
  s.run.start({.seconds = 0.1, .samples = 1}, "of a head");
  REQUIRE(wait_until([&] { return !s.run.running(); }));
  s.study.open("synthetic:hmatrix?n=16");
  REQUIRE(wait_until([&] { return s.study.settled() && s.study.shows_matrix(); }));
  s.run.start({}, "of nothing");
  CHECK(s.run.provenance() == "of a head");
  CHECK(s.run.stale());
}

}  // namespace fovea::test
