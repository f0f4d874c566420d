// The one computing thread: order, replacement, cancellation, errors.
#include "engine/engine.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include "data/error.h"

namespace fovea {
enum class RequestKind : int {
  a,
  b,
  bad,
  c,
  call,
  drag,
  gate,
  held,
  high,
  hungry,
  id,
  slow,
  low,
  never,
  other,
  quick,
  run,
  stopped
};
}

using namespace fovea;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

// Collects what jobs report, from the engine's thread.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
  void add(const std::string& line) {
    const std::scoped_lock lock(mutex);
    lines.push_back(line);
  }
  std::vector<std::string> copy() {
    const std::scoped_lock lock(mutex);
    return lines;
  }
};

void wait_idle(const Engine& engine) {
  const auto give_up = Clock::now() + 10s;
  for (;;) {
    const auto status = engine.status();
    if (!status.busy() && status.waiting == 0) return;
    REQUIRE(Clock::now() < give_up);
    std::this_thread::sleep_for(1ms);
  }
}

// Holds the engine until released, so that later requests queue up.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> wait = opened.get_future().share();
  Engine::Job job() {
    return [w = wait](const Backend&, std::stop_token, Progress&) { w.wait(); };
  }
};

// Pieces 1, 2 and 3 of a job, reported to the log.
Engine::Piece three_pieces(Log& log, std::function<void(int)> also = {}) {
  return [&log, also, turns = std::make_shared<int>(0)](const Backend&, std::stop_token,
                                                        Progress& progress) {
    log.add("piece " + std::to_string(++*turns));
    progress.fraction = *turns / 3.0;
    if (also) also(*turns);
    return *turns < 3;
  };
}

}  // namespace

TEST_CASE("engine: higher priority first, among equals the newest") {
  Log log;
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
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
  Engine engine(make_cpu_backend({.threads = 1}), [&](const RequestId&, const std::string&) {
    known = of->status().device_lost;
    ++heard;
  });
  of = &engine;
  engine.submit({RequestKind::call}, 0, [](const Backend&, std::stop_token, Progress&) {
    throw UnavailableError("no memory left");
  });
  wait_idle(engine);
  CHECK(heard == 1);
  CHECK(!engine.status().device_lost);
  for (const int place : {1, 2})
    engine.submit({RequestKind::call, place}, 0, [](const Backend&, std::stop_token, Progress&) {
      throw DeviceLostError("gone");
    });
  wait_idle(engine);
  CHECK(heard == 2);
  CHECK(known);
  CHECK(engine.status().device_lost);
}

TEST_CASE("engine: a newer request of the same identity replaces the waiting one") {
  Log log;
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
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
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
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

TEST_CASE("engine: errors are reported with their request, cancellation is not an error") {
  Log log;
  {
    Engine engine(make_cpu_backend({.threads = 1}),
                  [&](const RequestId& id, const std::string& message) {
                    log.add((id.kind == RequestKind::bad ? "bad: " : "hungry: ") + message);
                  });
    engine.submit({RequestKind::bad}, 0, [](const Backend&, std::stop_token, Progress&) {
      throw InputError("x.npz", "found 3; expected 4");
    });
    wait_idle(engine);
    engine.submit({RequestKind::stopped}, 0,
                  [](const Backend&, std::stop_token, Progress&) { throw Cancelled(); });
    wait_idle(engine);
    engine.submit({RequestKind::hungry}, 0,
                  [](const Backend&, std::stop_token, Progress&) { throw std::bad_alloc(); });
    wait_idle(engine);
  }
  CHECK(log.copy() ==
        std::vector<std::string>{"bad: x.npz: found 3; expected 4", "hungry: not enough memory"});
}

TEST_CASE("timing: the end of the engine stops a long computation within 200 ms") {
  // n large enough that the work would take tens of seconds on any machine.
  auto engine = std::make_unique<Engine>(make_cpu_backend(), nullptr);
  std::promise<void> started;
  engine->submit({RequestKind::slow}, 0,
                 [&](const Backend& backend, std::stop_token stop, Progress& progress) {
                   const Index n = 65536, d = 64;
                   const Problem problem =
                       make_problem(Matrix(n, d, 0.1f), Matrix(n, d, 0.1f), Matrix(n, d, 0.1f));
                   Plan plan{.n = n, .form = TilePlan{.passes = {{.tiles = {{{0, n}, {0, n}}}}}}};
                   Profile profile;
                   Run run{profile, stop, &progress};
                   const auto op =
                       backend.bind(std::make_shared<Plan>(std::move(plan)), problem, run);
                   started.set_value();
                   op->apply(problem.v, run);
                 });
  started.get_future().wait();
  std::this_thread::sleep_for(50ms);
  const auto before = Clock::now();
  engine.reset();
  CHECK(Clock::now() - before < 200ms);
}

TEST_CASE("engine: progress of a computation is readable while it runs") {
  Engine engine(make_cpu_backend(), nullptr);
  engine.submit(
      {RequestKind::slow}, 0,
      [&](const Backend& backend, std::stop_token stop, Progress& progress) {
        const Index n = 32768, d = 64;
        const Problem problem =
            make_problem(Matrix(n, d, 0.1f), Matrix(n, d, 0.1f), Matrix(n, d, 0.1f));
        Plan plan{.n = n, .form = TilePlan{.passes = {{.tiles = {{{0, n}, {0, n}}}}}}};
        Profile profile;
        Run run{profile, stop, &progress};
        backend.bind(std::make_shared<Plan>(std::move(plan)), problem, run)->apply(problem.v, run);
      });
  bool seen = false;
  const auto give_up = Clock::now() + 20s;
  while (!seen && Clock::now() < give_up) {
    const double fraction = engine.status().fraction;
    seen = fraction > 0 && fraction < 1;
    std::this_thread::sleep_for(1ms);
  }
  CHECK(seen);
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
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
  std::promise<std::thread::id> own, discarded, cancelled, done;
  engine.submit({RequestKind::id}, 0, [&](const Backend&, std::stop_token, Progress&) {
    own.set_value(std::this_thread::get_id());
  });
  const auto its = own.get_future().get();
  const auto job_with = [&](std::promise<std::thread::id>& gone) -> Engine::Job {
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

TEST_CASE("engine: other jobs run between the pieces of a long one") {
  Log log;
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
  Gate gate;
  engine.submit({RequestKind::gate}, 9, gate.job());
  engine.submit_pieces(
      {RequestKind::slow}, 1, three_pieces(log, [&](int turn) {
        if (turn == 1)
          engine.submit({RequestKind::quick}, 5,
                        [&](const Backend&, std::stop_token, Progress&) { log.add("quick"); });
      }));
  gate.opened.set_value();
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"piece 1", "quick", "piece 2", "piece 3"});
}

TEST_CASE("engine: a long job that is cancelled or requested again has no further piece") {
  for (const bool again : {false, true}) {
    Log log;
    Engine engine(make_cpu_backend({.threads = 1}), nullptr);
    Gate gate;
    engine.submit({RequestKind::gate}, 9, gate.job());
    engine.submit_pieces({RequestKind::slow}, 1, [&](const Backend&, std::stop_token, Progress&) {
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
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
  Gate gate;
  engine.submit({RequestKind::gate}, 9, gate.job());
  engine.submit_pieces({RequestKind::slow}, 5, three_pieces(log), 1);
  engine.submit({RequestKind::other}, 3,
                [&](const Backend&, std::stop_token, Progress&) { log.add("other"); });
  gate.opened.set_value();
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"piece 1", "other", "piece 2", "piece 3"});
}

TEST_CASE("engine: an interrupted piece gives way, is begun again, and no other job is lost") {
  Log log;
  Engine engine(make_cpu_backend({.threads = 1}), nullptr);
  std::promise<void> runs;
  auto begun = std::make_shared<int>(0);
  engine.submit_pieces({RequestKind::slow}, 1,
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
    Engine engine(make_cpu_backend({.threads = 1}), nullptr);
    std::promise<void> runs, asked;
    auto wait = asked.get_future().share();
    engine.submit_pieces({RequestKind::slow}, 1,
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

TEST_CASE("engine: a delayed job waits for its time, others run at once") {
  Log log;
  Engine engine(make_cpu_backend({.threads = 1}), [](const auto&, const auto&) {});
  const auto report = [&log](const std::string& name) {
    return [&log, name](const Backend&, std::stop_token, Progress&) { log.add(name); };
  };
  const auto begin = Clock::now();
  engine.hold_back(10, 200ms);
  engine.submit({RequestKind::low}, 9, report("low"));
  engine.submit({RequestKind::high}, 10, report("high"));
  const auto give_up = begin + 10s;
  while (log.copy().empty() && Clock::now() < give_up) std::this_thread::sleep_for(1ms);
  if (Clock::now() < begin + 150ms)  // else this machine was too slow to tell
    CHECK(log.copy() == std::vector<std::string>{"high"});
  wait_idle(engine);
  CHECK(log.copy() == std::vector<std::string>{"high", "low"});
  CHECK(Clock::now() - begin >= 200ms);
}

TEST_CASE(
    "engine: a delayed job can be cancelled and released, and does not delay the engine's end") {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  const auto begin = Clock::now();
  {
    Engine engine(make_cpu_backend({.threads = 1}), [](const auto&, const auto&) {});
    engine.hold_back(10, 60s);
    engine.submit({RequestKind::held}, 1, [held](const Backend&, std::stop_token, Progress&) {});
    engine.submit({RequestKind::other}, 1, [](const Backend&, std::stop_token, Progress&) {});
    held.reset();
    engine.cancel({RequestKind::held});
    while (!watched.expired() && Clock::now() < begin + 10s) std::this_thread::sleep_for(1ms);
    CHECK(watched.expired());
    CHECK(engine.status().waiting == 1);
  }
  CHECK(Clock::now() - begin < 20s);
}
