// The threads of the CPU back end.
#include "backend/workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>

#include "data/error.h"

using namespace fovea;

TEST_CASE("workers: every turn is taken exactly once, for any number of threads") {
  for (int threads : {1, 2, 5})
    for (Index count : {0, 1, 2, 3, 1000}) {
      Workers workers(threads);
      std::vector<std::atomic<int>> taken(static_cast<std::size_t>(count));
      workers.loop(count, {}, [&](Index turn, int worker) {
        CHECK(worker < threads);
        ++taken[static_cast<std::size_t>(turn)];
      });
      for (const auto& times : taken) CHECK(times == 1);
    }
}

TEST_CASE("workers: many short loops in a row lose nothing") {
  Workers workers(3);
  std::atomic<Index> sum = 0;
  for (int i = 0; i < 2000; ++i) workers.loop(7, {}, [&](Index turn, int) { sum += turn; });
  CHECK(sum == 2000 * 21);
}

TEST_CASE("workers: the first exception of a body reaches the caller, the next loop works") {
  Workers workers(2);
  const auto fails = [](Index turn, int) {
    if (turn == 50) throw InputError("x", "bad");
  };
  CHECK_THROWS_AS(workers.loop(100, {}, fails), InputError);
  Index count = 0;
  std::mutex mutex;
  workers.loop(10, {}, [&](Index, int) {
    const std::scoped_lock lock(mutex);
    ++count;
  });
  CHECK(count == 10);
}

TEST_CASE("workers: a requested stop ends the loop as Cancelled") {
  Workers workers(2);
  std::stop_source source;
  std::atomic<bool> asked = false;
  std::atomic<int> after = 0;
  CHECK_THROWS_AS(workers.loop(1000000, source.get_token(),
                               [&](Index turn, int) {
                                 if (asked) ++after;
                                 if (turn != 10) return;
                                 source.request_stop();
                                 asked = true;
                               }),
                  Cancelled);
  CHECK(after <= 1);  // which the other thread may have taken before
}
