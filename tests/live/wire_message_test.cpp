#include "live/wire_message.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include "data/error.h"
#include "harness.h"
#include "live/message_channel.h"

namespace fovea {
namespace {

/// Two channels that talk to each other over a socket.
struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    raw = ends[1];
    here.emplace(Descriptor(ends[0]));
    there.emplace(Descriptor(ends[1]));
  }
  std::optional<MessageChannel> here, there;
  int raw = -1;  // the descriptor of `there`
};

std::shared_ptr<const WireBytes> bytes_of(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return std::make_shared<const WireBytes>(first, first + text.size());
}

TEST_CASE("a message keeps its object and its tensors") {
  const Json content{{"id", 7}, {"do", "heads"}, {"text", "ä \"quoted\"\n"}};
  const std::vector<OutTensor> tensors{{"q", {2, 2}, std::vector<float>{1, 2, 3, 4}},
                                       {"ids", {3}, std::vector<std::int32_t>{5, 6, 7}}};
  const auto bytes = std::make_shared<const WireBytes>(message_bytes(content, tensors));
  const WireMessage message = read_message(bytes);
  CHECK(message.content == content);
  REQUIRE(message.tensors.tensors.size() == 2);
  CHECK(message.tensors.tensors[0].name == "ids");  // in the order of their names
  CHECK(message.tensors.tensors[1].shape == std::vector<Index>{2, 2});
  CHECK(message.tensors.metadata.empty());
}

TEST_CASE("what is no message is refused with what was found") {
  const auto refused = [](const std::string& metadata) {
    const std::string header = "{\"__metadata__\":{" + metadata + "}}";
    std::string length(8, '\0');
    const std::uint64_t size = header.size();
    std::memcpy(length.data(), &size, sizeof size);
    try {
      read_message(bytes_of(length + header));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("\"a\":\"b\"").find("no \"message\"") != std::string::npos);
  CHECK(refused("\"message\":\"[1]\"").find("expected an object") != std::string::npos);
  CHECK(refused("\"message\":\"{\"") != "");
  CHECK(refused("\"message\":\"{}\"") == "");
}

TEST_CASE("messages go both ways over a channel, larger than what a socket holds") {
  Pair pair;
  const std::vector<OutTensor> large{{"z", {1 << 20}, std::vector<float>(1 << 20, 2.5F)}};
  std::thread answering([&] {
    const auto asked = pair.there->receive();
    pair.there->send({{"id", asked->content.at("id")}}, large);
  });
  pair.here->send({{"id", 3}});
  const auto answer = pair.here->receive();
  answering.join();
  REQUIRE(answer);
  CHECK(answer->content.at("id") == 3);
  CHECK(answer->tensors.tensors.at(0).shape == std::vector<Index>{1 << 20});
}

TEST_CASE("a channel says that the other process has gone, falls silent, or sends nonsense") {
  Pair pair;
  SUBCASE("closed") {
    pair.there.reset();
    CHECK(!pair.here->receive());
    CHECK_THROWS_AS(pair.here->send({{"id", 1}}), UnavailableError);
  }
  SUBCASE("closed in the middle of a frame") {
    REQUIRE(::write(pair.raw, "\x20\0\0\0\0\0\0\0abc", 11) == 11);
    pair.there.reset();
    CHECK(!pair.here->receive());
  }
  SUBCASE("does not read") {
    const std::vector<OutTensor> large{{"z", {1 << 22}, std::vector<float>(1 << 22)}};
    CHECK_THROWS_AS(pair.here->send({}, large, {}, MessageChannel::Clock::now()), UnavailableError);
  }
  SUBCASE("a length that cannot be") {
    REQUIRE(::write(pair.raw, "\xff\xff\xff\xff\xff\xff\xff\xff", 8) == 8);
    CHECK_THROWS_AS(pair.here->receive(), InputError);
  }
  SUBCASE("cancelled while it waits, and while the other process does not read") {
    std::stop_source stop;
    stop.request_stop();
    CHECK_THROWS_AS(pair.here->receive(stop.get_token()), Cancelled);
    const std::vector<OutTensor> large{{"z", {1 << 22}, std::vector<float>(1 << 22)}};
    CHECK_THROWS_AS(pair.here->send({}, large, stop.get_token()), Cancelled);
  }
}

}  // namespace
}  // namespace fovea
