// The one computing thread: order, replacement, cancellation, errors.
#include "engine/engine.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "backend/backends.h"
#include "data/error.h"
#include "engine/jobs.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;
using namespace std::chrono_literals;

TEST_CASE("engine: higher priority first, among equals the newest") {
  Log log;
  TestEngine engine;
  Gate gate;
  engine.submit({RequestKind::gate}, 0, gate.job());
  while (!engine.status().busy()) std::this_thread::sleep_for(1ms);
  const auto say = [&](const std::string& text) {
    return [&log, text](const Backend&, std::stop_token, Progress&) { log.add(text); };
  };
  engine.submit({RequestKind::a}, 0, say("old"));
  engine.submit({RequestKind::b}, 0, say("new"));
  engine.submit({RequestKind::c}, 1, say("urgent"));
  gate.opened.set_value();
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"urgent", "new", "old"});
}

TEST_CASE("engine: a lost device is known before it is reported, a failed call is no lost device") {
  std::atomic<int> heard = 0;
  std::atomic<bool> known = false;
  Engine* of = nullptr;
  TestEngine engine(make_cpu_backend({.threads = 1}), [&](const std::string&) {
    known = of->status().device_lost;
    ++heard;
  });
  of = &engine;
  engine.submit({RequestKind::call}, 0, [](const Backend&, std::stop_token, Progress&) {
    throw UnavailableError("no memory left");
  });
  wait_idle(engine);
  CHECK(heard == 0);
  CHECK(!engine.status().device_lost);
  for (const int place : {1, 2})
    engine.submit({RequestKind::call, place}, 0, [](const Backend&, std::stop_token, Progress&) {
      throw DeviceLostError("gone");
    });
  wait_idle(engine);
  CHECK(heard == 1);
  CHECK(known);
  CHECK(engine.status().device_lost);
}

TEST_CASE("engine: a newer request of the same identity replaces the waiting one") {
  Log log;
  TestEngine engine;
  Gate gate;
  engine.submit({RequestKind::gate}, 0, gate.job());
  while (!engine.status().busy()) std::this_thread::sleep_for(1ms);
  for (int i = 0; i < 5; ++i)
    engine.submit({RequestKind::drag}, 0, [&log, i](const Backend&, std::stop_token, Progress&) {
      log.add(std::to_string(i));
    });
  CHECK(engine.status().waiting == 1);
  gate.opened.set_value();
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"4"});
}

TEST_CASE("engine: a newer request of the same identity stops the running one") {
  Log log;
  TestEngine engine;
  std::promise<void> started;
  engine.submit({RequestKind::drag}, 0, [&](const Backend&, std::stop_token stop, Progress&) {
    started.set_value();
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    throw Cancelled();
  });
  started.get_future().wait();
  engine.submit({RequestKind::drag}, 0,
                [&](const Backend&, std::stop_token, Progress&) { log.add("second"); });
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"second"});
}

TEST_CASE(
    "engine: the end of a job is reported once, with its error, but not that it was stopped") {
  Log log;
  TestEngine engine;
  const auto run = [&](auto function) {
    engine.submit({RequestKind::run}, 0, function, {},
                  [&log](const std::string& error) { log.add("end: " + error); });
    wait_idle(engine);
  };
  run([](const Backend&, std::stop_token, Progress&) {
    throw InputError("x.npz", "found 3; expected 4");
  });
  run([](const Backend&, std::stop_token, Progress&) { throw Cancelled(); });
  run([](const Backend&, std::stop_token, Progress&) { throw DeviceLostError("gone"); });
  run([](const Backend&, std::stop_token, Progress&) { throw std::bad_alloc(); });
  run([&log, pieces = std::make_shared<int>(0)](const Backend&, std::stop_token, Progress&) {
    log.add("piece");
    return ++*pieces < 2;
  });
  CHECK(log.copy() == std::vector<std::string>{"end: x.npz: found 3; expected 4",
                                               "end: not enough memory", "piece", "piece",
                                               "end: "});
}

TEST_CASE("engine: its end stops a computation, of which only what has begun is finished") {
  auto engine = std::make_unique<TestEngine>(make_cpu_backend({.threads = 2}));
  std::promise<void> started;
  std::atomic<double> at_stop = -1, at_end = -1;
  engine->submit(
      {RequestKind::slow}, 0,
      [&](const Backend& backend, std::stop_token stop, Progress& progress) {
        const Index n = 32768, d = 64;
        const Problem problem =
            make_problem(Matrix(n, d, 0.1f), Matrix(n, d, 0.1f), Matrix(n, d, 0.1f));
        Plan plan{.lengths = {n, n}, .form = TilePlan{.passes = {{.tiles = {{{0, n}, {0, n}}}}}}};
        Profile profile;
        Run run{profile, stop, &progress};
        const auto op = backend.bind(std::make_shared<Plan>(std::move(plan)), problem, run);
        // Called in the moment of the stop, by the thread that asks for it.
        const std::stop_callback asked(stop, [&] { at_stop = progress.fraction.load(); });
        started.set_value();
        try {
          for (;;) op->apply(problem.v, run);  // until it is stopped, on the quickest machine too
        } catch (const Cancelled&) {
          at_end = progress.fraction.load();
          throw;
        }
      });
  started.get_future().wait();
  while (engine->status().fraction == 0) std::this_thread::sleep_for(1ms);
  engine.reset();
  CHECK(at_stop >= 0);
  // Each of two threads ends the strip of rows that it has begun, of some hundred.
  CHECK(at_end - at_stop < 0.05);
}

TEST_CASE("engine: progress of a computation is readable while it runs") {
  TestEngine engine(make_cpu_backend());
  engine.submit(
      {RequestKind::slow}, 0,
      [&](const Backend& backend, std::stop_token stop, Progress& progress) {
        const Index n = 32768, d = 64;
        const Problem problem =
            make_problem(Matrix(n, d, 0.1f), Matrix(n, d, 0.1f), Matrix(n, d, 0.1f));
        Plan plan{.lengths = {n, n}, .form = TilePlan{.passes = {{.tiles = {{{0, n}, {0, n}}}}}}};
        Profile profile;
        Run run{profile, stop, &progress};
        const auto op = backend.bind(std::make_shared<Plan>(std::move(plan)), problem, run);
        for (;;) op->apply(problem.v, run);  // until it is cancelled
      });
  bool seen = false;
  while (!seen) {
    const double fraction = engine.status().fraction;
    seen = fraction > 0 && fraction < 1;
    std::this_thread::sleep_for(1ms);
  }
  engine.cancel({RequestKind::slow});
  wait_idle(engine);
}

TEST_CASE(
    "engine: what is discarded or cancelled is freed on its thread, and never under its lock") {
  // A thing that asks the engine for its status while it goes: under the lock this would hang.
  struct Thing {
    Engine& engine;
    std::promise<std::thread::id>& gone;
    ~Thing() {
      (void)engine.status();
      gone.set_value(std::this_thread::get_id());
    }
  };
  TestEngine engine;
  std::promise<std::thread::id> own, discarded, cancelled, done;
  engine.submit({RequestKind::id}, 0, [&](const Backend&, std::stop_token, Progress&) {
    own.set_value(std::this_thread::get_id());
  });
  const auto its = own.get_future().get();
  const auto job_with = [&](std::promise<std::thread::id>& gone) {
    auto thing = std::shared_ptr<Thing>(new Thing{engine, gone});
    return [thing](const Backend&, std::stop_token, Progress&) {};
  };
  engine.discard(std::shared_ptr<Thing>(new Thing{engine, discarded}));
  CHECK(discarded.get_future().get() == its);
  Gate gate;
  engine.submit({RequestKind::gate}, 1, gate.job());
  engine.submit({RequestKind::never}, 0, job_with(cancelled));
  engine.cancel({RequestKind::never});
  engine.submit({RequestKind::run}, 0, job_with(done));
  gate.opened.set_value();
  CHECK(cancelled.get_future().get() == its);
  CHECK(done.get_future().get() == its);
}

TEST_CASE("engine: a delayed job waits for its time, others run at once") {
  Log log;
  TestEngine engine;
  const auto report = [&log](const std::string& name) {
    return [&log, name](const Backend&, std::stop_token, Progress&) { log.add(name); };
  };
  const auto begin = Clock::now();
  engine.hold_back(Engine::Hold::moving_view, 10, 200ms);
  engine.submit({RequestKind::low}, 9, report("low"));
  engine.submit({RequestKind::high}, 10, report("high"));
  const auto give_up = begin + 60s;
  while (log.copy().empty() && Clock::now() < give_up) std::this_thread::sleep_for(1ms);
  if (Clock::now() < begin + 150ms)  // else this machine was too slow to tell
    CHECK(log.copy() == std::vector<std::string>{"high"});
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"high", "low"});
  CHECK(Clock::now() - begin >= 200ms);
}

TEST_CASE("engine: what is held back for two reasons waits until neither holds") {
  Log log;
  TestEngine engine;
  const auto report = [&log](const std::string& name) {
    return [&log, name](const Backend&, std::stop_token, Progress&) { log.add(name); };
  };
  const auto become = [&](const std::vector<std::string>& expected) {
    const auto give_up = Clock::now() + 60s;
    while (log.copy() != expected && Clock::now() < give_up) std::this_thread::sleep_for(1ms);
    return log.copy() == expected;
  };
  using Hold = Engine::Hold;
  engine.hold_back(Hold::moving_view, 10, 24h);
  engine.hold_back(Hold::ended_request, 20, 24h);
  engine.submit({RequestKind::low}, 9, report("low"));
  engine.submit({RequestKind::high}, 19, report("high"));
  engine.submit({RequestKind::other}, 20, report("other"));
  CHECK(become({"other"}));
  engine.hold_back(Hold::ended_request, 20, 0ms);  // wakes the engine
  CHECK(become({"other", "high"}));
  engine.hold_back(Hold::ended_request, 5, 24h);  // holds nothing that waits
  std::this_thread::sleep_for(20ms);
  CHECK(log.copy() == std::vector<std::string>{"other", "high"});
  engine.hold_back(Hold::moving_view, 10, 0ms);
  CHECK(become({"other", "high", "low"}));
}

TEST_CASE(
    "engine: a delayed job can be cancelled and released, and does not delay the engine's end") {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  {
    TestEngine engine;
    engine.hold_back(Engine::Hold::moving_view, 10, 24h);
    engine.submit({RequestKind::held}, 1, [held](const Backend&, std::stop_token, Progress&) {});
    engine.submit({RequestKind::other}, 1, [](const Backend&, std::stop_token, Progress&) {});
    held.reset();
    engine.cancel({RequestKind::held});
    while (!watched.expired()) std::this_thread::sleep_for(1ms);
    CHECK(engine.status().waiting == 1);
  }  // not a day later
}
