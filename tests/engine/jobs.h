// Jobs for the tests of the engine: what they report, and waiting for them.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/backends.h"
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

using Piece = decltype(Engine::Job::piece);
using Report = std::function<void(const std::string& message)>;

/// Takes functions for jobs; one that returns nothing is a job of one piece.
class TestEngine : public Engine {
 public:
  explicit TestEngine(
      std::unique_ptr<Backend> backend = make_cpu_backend({.threads = 1}),
      Report on_device_lost = [](const std::string&) {})
      : Engine(std::move(backend), std::move(on_device_lost)) {}

  template <class Function>
  void submit(const RequestId& id, int priority, Function function, std::optional<int> later = {},
              Report on_end = {}) {
    const auto piece = [function = std::move(function)](const Backend& backend,
                                                        std::stop_token stop, Progress& progress) {
      using Result = std::invoke_result_t<Function, const Backend&, std::stop_token, Progress&>;
      if constexpr (std::is_void_v<Result>) {
        function(backend, stop, progress);
        return false;
      } else {
        return function(backend, stop, progress);
      }
    };
    Engine::submit(id, priority, {.piece = piece, .on_end = std::move(on_end), .later = later});
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
  auto job() const {
    return [w = wait](const Backend&, std::stop_token, Progress&) { w.wait(); };
  }
};

}  // namespace test
}  // namespace fovea
