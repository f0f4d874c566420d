// Jobs for the tests of the engine: what they report, and waiting for them.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"

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

namespace test {

using Clock = std::chrono::steady_clock;

/// Collects what jobs report, from the engine's thread.
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

inline void wait_idle(const Engine& engine) {
  const auto give_up = Clock::now() + std::chrono::seconds(10);
  for (;;) {
    const auto status = engine.status();
    if (!status.busy() && status.waiting == 0) return;
    REQUIRE(Clock::now() < give_up);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Holds the engine until released, so that later requests queue up.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> wait = opened.get_future().share();
  Engine::Job job() {
    return [w = wait](const Backend&, std::stop_token, Progress&) { w.wait(); };
  }
};

}  // namespace test
}  // namespace fovea
