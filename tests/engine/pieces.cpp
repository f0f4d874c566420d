// Long jobs in pieces: what runs between them, interruption and cancellation.
#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <memory>

#include "engine/jobs.h"

using namespace fovea;
using namespace fovea::test;
using namespace std::chrono_literals;

namespace {

/// Pieces 1, 2 and 3 of a job, reported to the log.
Piece three_pieces(Log& log, std::function<void(int)> also = {}) {
  return [&log, also, turns = std::make_shared<int>(0)](const Backend&, std::stop_token,
                                                        Progress& progress) {
    log.add("piece " + std::to_string(++*turns));
    progress.fraction = *turns / 3.0;
    if (also) also(*turns);
    return *turns < 3;
  };
}

}  // namespace

TEST_CASE("engine: other jobs run between the pieces of a long one") {
  Log log;
  TestEngine engine;
  Gate gate;
  engine.submit({RequestKind::gate}, 9, gate.job());
  engine.submit({RequestKind::slow}, 1, three_pieces(log, [&](int turn) {
                  if (turn == 1)
                    engine.submit(
                        {RequestKind::quick}, 5,
                        [&](const Backend&, std::stop_token, Progress&) { log.add("quick"); });
                }));
  gate.opened.set_value();
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"piece 1", "quick", "piece 2", "piece 3"});
}

TEST_CASE("engine: a long job that is cancelled or requested again has no further piece") {
  for (const bool again : {false, true}) {
    Log log;
    TestEngine engine;
    Gate gate;
    engine.submit({RequestKind::gate}, 9, gate.job());
    engine.submit({RequestKind::slow}, 1, [&](const Backend&, std::stop_token, Progress&) {
      log.add("piece");
      if (again)
        engine.submit({RequestKind::slow}, 1,
                      [&](const Backend&, std::stop_token, Progress&) { log.add("new"); });
      else
        engine.cancel({RequestKind::slow});
      return true;
    });
    gate.opened.set_value();
    wait_idle(engine);
    CHECK(log.copy() ==
          (again ? std::vector<std::string>{"piece", "new"} : std::vector<std::string>{"piece"}));
  }
}

TEST_CASE("engine: the pieces after the first may have a lower priority") {
  Log log;
  TestEngine engine;
  Gate gate;
  engine.submit({RequestKind::gate}, 9, gate.job());
  engine.submit({RequestKind::slow}, 5, three_pieces(log), 1);
  engine.submit({RequestKind::other}, 3,
                [&](const Backend&, std::stop_token, Progress&) { log.add("other"); });
  gate.opened.set_value();
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"piece 1", "other", "piece 2", "piece 3"});
}

TEST_CASE("engine: an interrupted piece gives way, is begun again, and no other job is lost") {
  Log log;
  TestEngine engine;
  std::promise<void> runs;
  auto begun = std::make_shared<int>(0);
  engine.submit({RequestKind::slow}, 1,
                [&, begun](const Backend&, std::stop_token stop, Progress&) {
                  log.add("piece " + std::to_string(++*begun));
                  if (*begun == 1) {
                    runs.set_value();
                    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
                    throw Cancelled();
                  }
                  return *begun < 3;
                });
  runs.get_future().wait();
  engine.interrupt({RequestKind::other});  // does not run
  engine.submit({RequestKind::quick}, 5,
                [&](const Backend&, std::stop_token, Progress&) { log.add("quick"); });
  engine.interrupt({RequestKind::slow});
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"piece 1", "quick", "piece 2", "piece 3"});
}

TEST_CASE("engine: a job that is cancelled, before or after an interruption, does not come back") {
  for (const bool before : {false, true}) {
    Log log;
    TestEngine engine;
    std::promise<void> runs, asked;
    auto wait = asked.get_future().share();
    engine.submit({RequestKind::slow}, 1,
                  [&, wait](const Backend&, std::stop_token, Progress&) -> bool {
                    log.add("piece");
                    runs.set_value();
                    wait.wait();
                    throw Cancelled();
                  });
    runs.get_future().wait();
    if (before) engine.cancel({RequestKind::slow});
    engine.interrupt({RequestKind::slow});
    if (!before) engine.cancel({RequestKind::slow});
    asked.set_value();
    wait_idle(engine);
    CHECK(log.copy() == std::vector<std::string>{"piece"});
  }
}
