// Requests: what is known or pending is not requested again, what is unwanted is cancelled.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "allocations.h"
#include "study/request_fixture.h"

namespace fovea::test {
namespace {

/// Until it has nothing to do; what it did is not delivered.
void wait_for_engine(const Requests& requests) {
  const auto is_idle = [&] { return !requests.status().busy() && requests.status().waiting == 0; };
  while (!is_idle()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void wait_idle(const Requests& requests) {
  wait_for_engine(requests);
  run_events(5);
}

}  // namespace

TEST_CASE("a result is made once, however often it is asked for") {
  Fixture f;
  CHECK(f.ask(first, 3) == nullptr);
  CHECK(f.ask(first, 3) == nullptr);
  REQUIRE(f.arrives(3));
  REQUIRE(f.ask(second, 3) != nullptr);
  CHECK(*f.ask(second, 3)->result == 9);
  CHECK(f.made == 1);
}

TEST_CASE("an error is an answer, until all that failed may be requested again") {
  Fixture f;
  f.ask(first, -1);
  REQUIRE(f.arrives(-1));
  CHECK(f.ask(first, -1)->error.find("negative") != std::string::npos);
  CHECK(f.made == 1);
  f.requests.resume();
  CHECK(f.ask(first, -1) == nullptr);
  REQUIRE(f.arrives(-1));
  CHECK(f.made == 2);
}

TEST_CASE("what an update no longer needs is cancelled, other requests go on") {
  Fixture f;
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  f.requests.begin_update();
  f.requests.start_pieces(first, 1, endless(ended),
                          [](const std::string&) { FAIL("it was cancelled"); });
  f.requests.start_pieces(
      apart, 1, [](const Backend&, Run&) { return false; }, [](const std::string&) {});
  f.requests.end_update();
  CHECK(f.requests.is_pending(first, 1));
  REQUIRE(wait_until([&] { return f.requests.status().running == first; }));
  f.requests.begin_update();
  f.requests.end_update();
  CHECK_FALSE(f.requests.is_pending(first));
  CHECK(f.requests.is_pending(apart));
  CHECK(wait_until([&] { return ended->load() && !f.requests.is_pending(apart); }));
}

TEST_CASE("while paused nothing of an update is requested") {
  Fixture f;
  f.requests.pause();
  CHECK(f.ask(first, 5) == nullptr);
  run_events(50);
  CHECK(f.made == 0);
  f.requests.resume();
  f.ask(first, 5);
  CHECK(f.arrives(5));
}

TEST_CASE("a pause ends what runs") {
  Fixture f;
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  f.requests.start_pieces(first, 1, endless(ended),
                          [](const std::string&) { FAIL("it was cancelled"); });
  REQUIRE(wait_until([&] { return f.requests.status().running == first; }));
  f.requests.pause();
  CHECK_FALSE(f.requests.is_pending(first));
  CHECK(wait_until([&] { return ended->load(); }));
}

TEST_CASE(
    "the back end is exchanged while the old one computes, and what that still delivers is "
    "dropped") {
  Fixture f;
  std::atomic<bool> entered = false, ended = false;
  std::promise<void> released;
  f.requests.start_pieces(
      first, 1,
      [&, wait = released.get_future().share()](const Backend&, Run&) {
        entered = true;
        wait.wait();  // it does not look for a stop
        ended = true;
        return false;
      },
      [](const std::string&) { FAIL("the old back end was replaced"); });
  REQUIRE(wait_until([&] { return entered.load(); }));
  f.requests.use_backend(std::make_unique<CpuLike>());  // would hang if it waited for the old one
  CHECK_FALSE(f.requests.is_pending(first));
  f.ask(first, 4);
  released.set_value();
  CHECK(f.arrives(4));
  CHECK(wait_until([&] { return ended.load(); }));
  run_events(50);
}

TEST_CASE("the cache drops what was used least recently, and the engine frees it") {
  Fixture f;
  ResultCache<int, const int> cache(f.requests, 2);
  const auto freed_by = std::make_shared<std::atomic<std::thread::id>>();
  std::shared_ptr<const int> two(new int(2), [freed_by](const int* number) {
    *freed_by = std::this_thread::get_id();
    delete number;
  });
  cache.put({1, std::make_shared<const int>(1)});
  cache.put({2, std::move(two)});
  CHECK(cache.find(1));
  for (int unused = 0; unused < 2; ++unused) {
    f.requests.begin_update();
    f.requests.end_update();
  }
  cache.put({3, std::make_shared<const int>(3)});
  CHECK(cache.find(1));
  CHECK_FALSE(cache.find(2));
  CHECK(wait_until([&] { return freed_by->load() != std::thread::id(); }));
  CHECK(freed_by->load() != std::this_thread::get_id());
  cache.clear();
  CHECK_FALSE(cache.find(1));
}

TEST_CASE("what the last update used is kept beyond the capacity, and made only once") {
  Fixture f;
  ResultCache<int, const int> cache(f.requests, 2);
  int made = 0;  // on the engine's thread, and read here when that is idle
  const auto update = [&](int first_key) {
    f.requests.begin_update();
    for (int key = first_key; key < first_key + 5; ++key)
      cache.ask({RequestKind::column, 0, key}, key, [&made, key](const Backend&, Run&) {
        ++made;
        return key;
      });
    f.requests.end_update();
    wait_idle(f.requests);
  };
  for (int round = 0; round < 3; ++round) update(0);
  CHECK(made == 5);
  CHECK(cache.answers().size() == 5);
  update(100);
  CHECK(made == 10);
  CHECK(cache.answers().size() <= 5 + 2);  // of the others no more than the capacity
}

TEST_CASE("what is put in during an update drops nothing that the update has not reached yet") {
  Fixture f;
  ResultCache<int, const int> cache(f.requests, 2);
  int made = 0;
  const auto update = [&](std::initializer_list<int> keys) {
    f.requests.begin_update();
    for (const int key : keys)
      if (!cache.find(key)) {
        ++made;
        cache.put({key, std::make_shared<const int>(key)});
      }
    f.requests.end_update();
  };
  update({1, 2, 3});
  update({4, 1, 2, 3});
  CHECK(made == 4);
  update({5});
  update({6});
  CHECK(cache.answers().size() == 2);
}

TEST_CASE("a request that had just ended when it was cancelled is not reported") {
  Fixture f;
  bool reported = false;
  const auto start = [&] {
    f.requests.start_pieces(
        first, 1, [](const Backend&, Run&) { return false; },
        [&](const std::string&) { reported = true; });
    wait_for_engine(f.requests);  // its end waits to be delivered
  };
  start();
  f.requests.cancel(first);
  run_events(20);
  CHECK_FALSE(reported);
  start();
  f.requests.cancel_all();
  run_events(20);
  CHECK_FALSE(reported);
  start();
  f.requests.begin_update();
  f.requests.end_update();
  run_events(20);
  CHECK_FALSE(reported);
  start();
  run_events(20);
  CHECK(reported);
}

TEST_CASE("memory: a request whose answer cannot be taken has ended, and can be made again") {
  Fixture f;
  bool refused = false, taken = false;
  const auto start = [&] {
    f.requests.start_pieces(
        first, 1, [](const Backend&, Run&) { return false; },
        [&](const std::string&) {
          if (!std::exchange(refused, true)) throw std::bad_alloc();
          taken = true;
        });
    wait_for_engine(f.requests);
  };
  start();
  CHECK_THROWS_AS(run_events(20), std::bad_alloc);
  CHECK_FALSE(f.requests.is_pending(first));
  start();
  run_events(20);
  CHECK(taken);
}

TEST_CASE("memory: a request that cannot be submitted is not pending, and can be made again") {
  std::size_t number = 1;
  for (bool reached = true; reached; ++number) {
    CAPTURE(number);
    Fixture f;
    std::promise<void> occupied, end;  // in a piece, the engine takes none of the allocations
    f.requests.start_pieces(
        second, 1,
        [&occupied, ended = end.get_future().share()](const Backend&, Run&) {
          occupied.set_value();
          ended.wait();
          return false;
        },
        [](const std::string&) {});
    occupied.get_future().wait();
    int taken = 0;
    const auto start = [&] {
      f.requests.start_pieces(
          first, 1, [](const Backend&, Run&) { return false; },
          [&taken](const std::string&) { ++taken; });
    };
    bool submitted = false;
    {
      const RefusedAllocation refused(number);
      try {
        start();
        submitted = true;
      } catch (const std::bad_alloc&) {
      }
      reached = refused.reached();
    }
    CHECK(submitted != reached);
    CHECK(f.requests.is_pending(first) == submitted);
    start();
    end.set_value();
    wait_idle(f.requests);
    CHECK(taken == 1);
  }
  CHECK(number > 4);
}

TEST_CASE("work in the background is done in order, an error reaches whoever still listens") {
  BackgroundThread background;
  std::vector<int> order;
  std::string error = "none";
  QObject receiver;
  {
    auto gone = std::make_unique<QObject>();
    background.run([&] { order.push_back(1); }, gone.get(),
                   [](const std::string&) { FAIL("the receiver is gone"); });
    gone.reset();
  }
  background.run(
      [&] {
        order.push_back(2);
        throw UnavailableError("the disk is full");
      },
      &receiver, [&](const std::string& message) { error = message; });
  REQUIRE(wait_until([&] { return error != "none"; }));
  CHECK(order == std::vector<int>{1, 2});
  CHECK(error.find("the disk is full") != std::string::npos);
}

TEST_CASE("no file waits for a device that is slow to start") {
  std::promise<void> started;
  Background background;
  background.devices.run([wait = started.get_future().share()] { wait.wait(); });
  std::atomic<bool> written = false;
  background.files.run([&] { written = true; });
  CHECK(wait_until([&] { return written.load(); }));
  started.set_value();
}

}  // namespace fovea::test
