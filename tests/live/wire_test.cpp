// The wire in any pieces, and what is not the wire.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "data/error.h"
#include "live/blobs.h"

namespace fovea::test {
namespace {

constexpr std::uint64_t most = 1 << 20;

/// What a reader has taken from some bytes.
struct Taken {
  std::vector<std::string> tokens, frames;
  std::string error;
};

/// Gives the bytes in pieces that end at these places.
Taken taken(const std::string& text, std::vector<std::size_t> ends,
            std::uint64_t most_bytes = most) {
  WireReader reader(most_bytes);
  Taken all;
  ends.push_back(text.size());
  std::size_t at = 0;
  try {
    for (const std::size_t end : ends)
      while (at < end) {
        const std::span<std::byte> room = reader.room();
        REQUIRE(!room.empty());
        const std::size_t count = std::min(room.size(), end - at);
        std::memcpy(room.data(), text.data() + at, count);
        at += count;
        reader.filled(count);
        if (auto token = reader.take_token()) all.tokens.push_back(*token);
        if (auto bytes = reader.take_frame())
          all.frames.emplace_back(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      }
  } catch (const InputError& error) {
    all.error = error.what();
  }
  return all;
}

}  // namespace

TEST_CASE("a greeting and frames are read from any two or three pieces") {
  const std::string text = wire_greeting("abc") + frame("first") + frame("x") + frame("third one");
  const auto check = [&](const Taken& all) {
    CHECK(all.error == "");
    CHECK(all.tokens == std::vector<std::string>{"abc"});
    CHECK(all.frames == std::vector<std::string>{"first", "x", "third one"});
  };
  for (std::size_t one = 0; one <= text.size(); ++one)
    for (std::size_t two = one; two <= text.size(); ++two) check(taken(text, {one, two}));
  std::vector<std::size_t> each(text.size());
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = i;
  check(taken(text, each));
}

TEST_CASE("a greeting without a token is complete, and a long frame keeps its bytes") {
  std::string payload(3'000'001, ' ');
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 31 % 251);
  const Taken all = taken(wire_greeting("") + frame(payload), {7, 100, 1'500'000}, payload.size());
  CHECK(all.error == "");
  CHECK(all.tokens == std::vector<std::string>{""});
  REQUIRE(all.frames.size() == 1);
  CHECK(all.frames.front() == payload);
}

TEST_CASE("what is no greeting, or of another version, is refused in words") {
  CHECK(taken("GET / HTTP/1.1\r\n\r\n", {}).error.find("not the greeting") != std::string::npos);
  CHECK(taken(wire_greeting("", 2), {}).error.find("version 2 of the link") != std::string::npos);
  std::string long_token = wire_greeting("");
  long_token[13] = 2;  // 512 bytes
  CHECK(taken(long_token, {}).error.find("at most 256") != std::string::npos);
}

TEST_CASE("a frame of no bytes or of too many is refused before any of them") {
  const std::string greeting = wire_greeting("");
  CHECK(taken(greeting + wire_length(0), {}).error.find("0 bytes") != std::string::npos);
  CHECK(taken(greeting + wire_length(most + 1), {}).error.find("1048577 bytes") !=
        std::string::npos);
  CHECK(taken(greeting + wire_length(~0ull), {}).error.find("18446744073709551615") !=
        std::string::npos);
  CHECK(taken(greeting + wire_length(most), {}).error == "");
}

TEST_CASE("a length alone takes little memory, however large it is") {
  WireReader reader(std::uint64_t{1} << 40);
  const std::string text = wire_greeting("") + wire_length(std::uint64_t{1} << 40);
  for (const char byte : text) {
    reader.room()[0] = static_cast<std::byte>(byte);
    reader.filled(1);
  }
  CHECK(reader.room().size() <= 1 << 20);
}

TEST_CASE("a reader knows when silence is suspicious") {
  WireReader reader(most);
  const auto put = [&](const std::string& text) {
    for (const char byte : text) {
      reader.room()[0] = static_cast<std::byte>(byte);
      reader.filled(1);
    }
  };
  CHECK(reader.is_in_the_middle());
  put(wire_greeting("ab"));
  CHECK_FALSE(reader.is_in_the_middle());
  put(std::string("\x02", 1));
  CHECK(reader.is_in_the_middle());
  put(std::string(7, '\0') + "a");
  CHECK(reader.is_in_the_middle());
  put("b");
  CHECK_FALSE(reader.is_in_the_middle());
}

TEST_CASE(
    "random bytes and damaged frames end in a message or in a frame, never in anything else") {
  std::mt19937 random(1);
  const std::string good = wire_greeting("t") + frame(blob("a", "1")) + frame(blob("a", "2"));
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    if (round % 3 == 0)
      for (char& byte : text) byte = static_cast<char>(random());
    for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % text.size());
    const Taken all = taken(text, {std::min<std::size_t>(text.size(), random() % good.size())});
    for (const std::string& payload : all.frames) {
      try {
        const LiveStep read = read_live_step(bytes(payload));
        CHECK(read.source->layers.size() == 1);
      } catch (const InputError& error) {
        CHECK(std::string(error.what()).size() > 10);
      }
    }
  }
}

TEST_CASE("a step says what it is of, and otherwise is of the stream live") {
  const LiveStep read = step("train", 12);
  CHECK(read.stream == "train");
  CHECK(read.step == 12);
  CHECK(read.source->path == "live:train");
  CHECK(read.source->name == "train");
  CHECK(read.source->layers.front().q.read(0)(1, 1) == 1);
  CHECK(step("", -1).stream == "live");
  CHECK(step("", -1).step == -1);
  CHECK(step("train", largest_step).step == largest_step);
  for (const char* wrong : {"-1", "1.5", "one", "9223372036854775807", "99999999999999999999"})
    CHECK_THROWS_WITH_AS(read_live_step(bytes(blob("a", wrong))),
                         doctest::Contains("whole number from 0"), InputError);
  CHECK_THROWS_WITH_AS(read_live_step(bytes(blob("a\\u0007", "1"))),
                       doctest::Contains("control characters"), InputError);
  CHECK_THROWS_AS(read_live_step(bytes("no tensors")), InputError);
}

}  // namespace fovea::test
