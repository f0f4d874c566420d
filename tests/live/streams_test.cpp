// Which steps of a stream are kept.
#include <doctest/doctest.h>

#include <algorithm>

#include "data/error.h"
#include "live/blobs.h"
#include "live/live_streams.h"
#include "study/event_loop.h"

namespace fovea::test {
namespace {

std::vector<Index> numbers(const LiveStreams& streams, const std::string& name) {
  std::vector<Index> out;
  for (const LiveStep& kept : streams.stream(name).steps) out.push_back(kept.step);
  return out;
}

}  // namespace

TEST_CASE("steps are kept in order, and those without a number are counted") {
  LiveStreams streams;
  CHECK(streams.add(step("a", -1)) == 0);
  CHECK(streams.add(step("a", -1)) == 1);
  CHECK(streams.add(step("a", 10)) == 10);
  CHECK(streams.add(step("a", -1)) == 11);
  CHECK(streams.add(step("b", -1)) == 0);
  CHECK(streams.add(step("large", largest_step)) == largest_step);
  CHECK(streams.add(step("large", -1)) == largest_step + 1);
  CHECK(numbers(streams, "a") == std::vector<Index>{0, 1, 10, 11});
  CHECK(streams.names() == std::vector<std::string>{"a", "b", "large"});
  CHECK(numbers(streams, "c").empty());
}

TEST_CASE("a step that does not come after the last one starts again from there") {
  LiveStreams streams;
  for (const Index number : {0, 1, 2, 3, 4}) streams.add(step("a", number));
  streams.add(step("a", 3));
  CHECK(numbers(streams, "a") == std::vector<Index>{0, 1, 2, 3});
  streams.add(step("a", 0));
  CHECK(numbers(streams, "a") == std::vector<Index>{0});
}

TEST_CASE("memory is bounded, the newest steps are all kept, and older ones ever sparser") {
  const std::size_t size = blob("a", "100").size();
  LiveStreams streams({.most_bytes = 20 * size});
  for (Index number = 0; number < 1000; ++number) {
    streams.add(step("a", number));
    const LiveStream stream = streams.stream("a");
    std::uint64_t bytes = 0;
    for (const LiveStep& kept : stream.steps) bytes += kept.bytes->size();
    REQUIRE(bytes <= 20 * size);
    REQUIRE(stream.steps.back().step == number);
    REQUIRE(std::ssize(stream.steps) + stream.thinned_out == number + 1);
  }
  const auto kept = numbers(streams, "a");
  CHECK(kept.front() == 0);
  CHECK(kept.size() >= 15);
  CHECK(kept[kept.size() - 3] == 997);
  for (std::size_t i = 2; i + 1 < kept.size(); ++i)  // a gap is at most about twice the next one
    CHECK(kept[i + 1] - kept[i] <= 3 * (kept[i] - kept[i - 1]) + 1);
}

TEST_CASE(
    "a stream that starts again has thinned out nothing, one that goes back keeps the count") {
  LiveStreams streams({.most_steps = 4});
  for (Index number = 0; number < 10; ++number) streams.add(step("a", number));
  REQUIRE(streams.stream("a").thinned_out == 6);
  streams.add(step("a", 9));  // the last step once more
  CHECK(streams.stream("a").thinned_out == 6);
  streams.add(step("a", 0));
  CHECK(streams.stream("a").thinned_out == 0);
}

TEST_CASE(
    "the largest stream gives way, and the newest step is kept even if it is too large alone") {
  const std::size_t size = blob("a", "10").size();
  LiveStreams streams({.most_bytes = 6 * size});
  streams.add(step("b", 0));
  for (Index number = 0; number < 10; ++number) streams.add(step("a", number));
  CHECK(numbers(streams, "b") == std::vector<Index>{0});
  CHECK(numbers(streams, "a").back() == 9);
  LiveStreams tiny({.most_bytes = 10});
  tiny.add(step("a", 0));
  tiny.add(step("a", 1));
  tiny.add(step("b", 0));
  CHECK(numbers(tiny, "b") == std::vector<Index>{0});
  CHECK(numbers(tiny, "a").empty());
}

TEST_CASE("the number of streams and of steps is bounded") {
  LiveStreams streams({.most_streams = 2, .most_steps = 5});
  streams.add(step("a", 0));
  streams.add(step("b", 0));
  streams.add(step("a", 1));
  streams.add(step("c", 0));  // the one that was fed least recently gives way
  CHECK(streams.names() == std::vector<std::string>{"a", "c"});
  for (Index number = 1; number < 50; ++number) streams.add(step("a", number));
  CHECK(numbers(streams, "a").size() == 5);
  CHECK(numbers(streams, "a").back() == 49);
}

TEST_CASE("news of many steps comes as one") {
  LiveStreams streams;
  int news = 0;
  QObject::connect(&streams, &LiveStreams::changed, [&] { ++news; });
  for (Index number = 0; number < 100; ++number) streams.add(step("a", number));
  run_events(5);
  CHECK(news == 1);
  streams.add(step("a", 100));
  run_events(5);
  CHECK(news == 2);
}

}  // namespace fovea::test
