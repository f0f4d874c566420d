// Work in the background beside a Study's own: what waits for it goes on when it has ended.
#include "study/background_run.h"

#include <doctest/doctest.h>

#include <atomic>

#include "study/background.h"
#include "study/opened.h"
#include "views/views.h"

namespace fovea::test {

TEST_CASE("columns that waited for work in the background are timed when it has ended") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  const auto timed = [&] { return study.columns()[1].time != nullptr; };
  REQUIRE(wait_until([&] { return study.settled() && timed(); }));

  // One step runs while the other one waits, so that no column is timed between them.
  std::atomic<bool> may_end = false;
  const auto step = [&](const Backend&, Run&) -> std::function<void()> {
    while (!may_end) QThread::msleep(1);
    return [] {};
  };
  const auto wanted = [&] { return !may_end; };
  BackgroundRun first(study, RequestKind::sweep), second(study, RequestKind::trials);
  first.start(step, wanted);
  second.start(step, wanted);
  study.measure_again();
  REQUIRE(wait_until([&] { return !timed(); }));
  run_events(20);
  CHECK_FALSE(timed());
  may_end = true;
  REQUIRE(wait_until([&] { return !first.running() && !second.running(); }));
  CHECK(wait_until(timed));
}

}  // namespace fovea::test
