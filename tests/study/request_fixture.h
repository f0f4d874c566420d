// Requests to an engine, and a cache of squares that is asked through them.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "study/event_loop.h"
#include "study/requests.h"
#include "window/backend.h"

namespace fovea::test {

inline constexpr RequestId first{RequestKind::column, 0, 1}, second{RequestKind::column, 0, 2};
inline constexpr RequestId apart{RequestKind::hash};  // is requested apart from updates

struct Fixture {
  Requests requests{std::make_unique<CpuLike>(), std::make_shared<Background>()};
  ResultCache<int, const int> cache{requests, 8};
  std::atomic<int> made = 0;

  /// Asks for the square of `key`.
  const ResultCache<int, const int>::Answer* ask(const RequestId& id, int key) {
    return cache.ask(id, key, [this, key](const Backend&, Run&) {
      ++made;
      if (key < 0) throw InputError("", "negative");
      return key * key;
    });
  }
  bool arrives(int key) {
    return wait_until([&] { return cache.find(key) != nullptr; });
  }
};

/// Runs until it is cancelled.
inline Requests::Step endless(std::shared_ptr<std::atomic<bool>> ended) {
  return [ended](const Backend&, Run& run) -> bool {
    while (!run.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *ended = true;
    throw Cancelled();
  };
}

}  // namespace fovea::test
