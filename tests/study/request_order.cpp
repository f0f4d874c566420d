// In which order requests run, what makes way for what, and when an update is asked for.
#include <doctest/doctest.h>

#include <QElapsedTimer>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "study/request_fixture.h"

namespace fovea::test {

TEST_CASE("an older request of the same identity may finish soon, else it makes way") {
  Fixture f;
  f.cache.ask(first, 1, [](const Backend&, Run& run) -> int {
    while (!run.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw Cancelled();
  });
  REQUIRE(wait_until([&] { return f.requests.status().running == first; }));
  f.ask(first, 2);
  CHECK(f.requests.is_pending(first, 1));  // it has just begun
  REQUIRE(wait_until([&] { return f.requests.status().seconds > 0.3; }));
  f.ask(first, 2);
  CHECK(f.arrives(2));
}

TEST_CASE("work that nobody waits for makes way, also when it has just begun") {
  for (const double after : {0.05, 0.}) {
    CAPTURE(after);
    Fixture f;
    const auto ended = std::make_shared<std::atomic<bool>>(false);
    f.requests.start_pieces({RequestKind::metrics}, 1, endless(ended),
                            [](const std::string&) { FAIL("it was cancelled"); });
    REQUIRE(wait_until(
        [&] {
          const Engine::Status now = f.requests.status();
          return now.running && now.seconds >= after;
        },
        10000));
    f.ask(first, 2);
    CHECK(f.arrives(2));
    CHECK(*ended);
  }
}

TEST_CASE("timings make way at once as they take long") {
  Fixture f;
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  f.requests.start_pieces({RequestKind::timing}, 1, endless(ended),
                          [](const std::string&) { FAIL("it was cancelled"); });
  REQUIRE(wait_until([&] { return f.requests.status().runs(RequestKind::timing); }));
  f.ask(first, 2);
  CHECK_FALSE(f.requests.is_pending({RequestKind::timing}));
  CHECK(f.arrives(2));
  CHECK(*ended);
}

TEST_CASE(
    "what a person points at goes first, then what is looked at, work in the background last") {
  Fixture f;
  std::promise<void> released;
  f.requests.start_pieces(
      {RequestKind::open}, 0,
      [wait = released.get_future().share()](const Backend&, Run&) {
        wait.wait();
        return false;
      },
      [](const std::string&) {});
  REQUIRE(wait_until([&] { return f.requests.status().runs(RequestKind::open); }));
  std::vector<RequestKind> order;  // of the engine's thread
  const std::vector<RequestKind> expected{
      RequestKind::pair,        RequestKind::panel,   RequestKind::exact,
      RequestKind::column,      RequestKind::metrics, RequestKind::slow_panel,
      RequestKind::diagnostics, RequestKind::card,    RequestKind::timing};
  std::size_t done = 0;
  for (auto kind = expected.rbegin(); kind != expected.rend(); ++kind)
    f.requests.start_pieces(
        {*kind}, 0,
        [&order, kind = *kind](const Backend&, Run&) {
          order.push_back(kind);
          return false;
        },
        [&done](const std::string&) { ++done; });
  released.set_value();
  REQUIRE(wait_until([&] { return done == expected.size(); }));
  CHECK((order == expected));
}

TEST_CASE("after a result the pictures that are made of it go before work in the background") {
  // The engine holds the background back for a tenth of a second: what a busy machine does later
  // says nothing, and is done again.
  for (bool in_time = false; !in_time;) {
    Fixture f;
    const RequestId picture{RequestKind::panel, 0, 1}, timing{RequestKind::timing};
    std::vector<std::string> order;  // of the engine's thread
    const auto note = [&order](const char* name) {
      return [&order, name](const Backend&, Run&) {
        order.push_back(name);
        return false;
      };
    };
    const auto nothing = [](const std::string&) {};
    std::promise<void> released;
    f.requests.begin_update();
    f.requests.start_pieces(
        first, 0,
        [wait = released.get_future().share()](const Backend&, Run&) {
          wait.wait();
          return false;
        },
        nothing);
    f.requests.start_pieces(timing, 0, note("timing"), nothing);
    f.requests.end_update();
    bool updated = false;
    QElapsedTimer clock;
    QObject::connect(&f.requests, &Requests::arrived, &f.requests, [&](bool ask_again) {
      if (!std::exchange(updated, true)) {
        CHECK(ask_again);
        f.requests.begin_update();
        f.requests.start_pieces(picture, 0, note("picture"), nothing);
        f.requests.end_update();
        in_time = clock.elapsed() < 90;
      }
    });
    clock.start();
    released.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the window is busy
    REQUIRE(wait_until([&] { return !f.requests.is_pending(timing); }));
    if (in_time) CHECK(order == std::vector<std::string>{"picture", "timing"});
  }
}

TEST_CASE("an update is asked for once the engine would be idle, not for each result") {
  Fixture f;
  const RequestId picture{RequestKind::panel, 0, 1}, ranks{RequestKind::slow_panel, 0, 1};
  std::vector<bool> asked;
  QObject::connect(&f.requests, &Requests::arrived, &f.requests,
                   [&](bool ask_again) { asked.push_back(ask_again); });
  std::promise<void> column, panel;
  const auto nothing = [](const std::string&) {};
  const auto waits_for = [](std::promise<void>& promise) {
    return [wait = promise.get_future().share()](const Backend&, Run&) {
      wait.wait();
      return false;
    };
  };
  f.requests.begin_update();
  f.requests.start_pieces(first, 0, waits_for(column), nothing);
  REQUIRE(wait_until([&] { return f.requests.status().runs(RequestKind::column); }));
  f.requests.start_pieces(picture, 0, waits_for(panel), nothing);
  f.requests.start_pieces(
      ranks, 0, [](const Backend&, Run&) { return false; }, nothing);
  f.requests.end_update();
  column.set_value();
  REQUIRE(wait_until([&] { return asked.size() == 1; }));
  CHECK_FALSE(asked[0]);  // the picture is being made
  panel.set_value();
  REQUIRE(wait_until([&] { return asked.size() >= 2; }));
  CHECK(asked[1]);  // only ranks are left, which wait for what is made of the column
  f.requests.begin_update();
  f.requests.need(ranks);
  f.requests.end_update();
  REQUIRE(wait_until([&] { return asked.size() == 3; }));
  CHECK_FALSE(asked[2]);
}

}  // namespace fovea::test
