// The AttentionServer on a thread, and another process's end of its channel.
#include "cli/attention_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "backend/backends.h"
#include "data/error.h"
#include "evaluate/computation.h"
#include "messages.h"

namespace fovea::test {
namespace {

struct Served {
  Served() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    raw = ends[0];
    here.emplace(Descriptor(ends[0]));
    thread = std::thread([this, there = ends[1]] {
      MessageChannel channel{Descriptor(there)};
      const auto backend = make_cpu_backend({.threads = 1});
      error = message_of<Error>([&] { AttentionServer(channel, *backend).run(stop.get_token()); });
    });
    hello = here->receive()->content;
  }
  ~Served() { end(); }
  Served(const Served&) = delete;

  /// Closes this end for writing, and waits for the end of the server.
  void end() {
    ::shutdown(raw, SHUT_WR);
    if (thread.joinable()) thread.join();
  }
  WireMessage answer() { return here->receive().value(); }
  WireMessage ask(const Json& request, const std::vector<OutTensor>& tensors = {}) {
    here->send(request, tensors);
    return answer();
  }
  std::string error_of(const Json& request, const std::vector<OutTensor>& tensors = {}) {
    return ask(request, tensors).content.value("error", "");
  }

  std::stop_source stop;
  int raw = -1;
  std::optional<MessageChannel> here;
  Json hello;
  std::thread thread;
  std::string error;  // with which the server ended
};

std::vector<float> numbers(Index count, double step) {
  std::vector<float> out;
  for (Index i = 0; i < count; ++i)
    out.push_back(static_cast<float>(std::sin(step * static_cast<double>(i + 1))));
  return out;
}

/// Two query heads that share a key head.
std::vector<OutTensor> heads_of(Index n, Index d) {
  return {{"q", {2, n, d}, numbers(2 * n * d, 1.7)},
          {"k", {1, n, d}, numbers(n * d, 2.3)},
          {"v", {1, n, d}, numbers(n * d, 0.9)}};
}

Json attend(const Json& id, const std::string& variant = "exact") {
  return {{"id", id}, {"do", "attend"}, {"variant", variant}};
}

std::vector<float> z_of(const WireMessage& answer) {
  const TensorFile& file = answer.tensors;
  REQUIRE(file.tensors.size() == 1);
  CHECK(file.tensors[0].name == "z");
  Index count = 1;
  for (const Index n : file.tensors[0].shape) count *= n;
  std::vector<float> z(static_cast<std::size_t>(count));
  file.tensors[0].bytes->read(file.tensors[0].begin, std::as_writable_bytes(std::span(z)));
  return z;
}

TEST_CASE("a server says who it is, and computes what the program computes") {
  Served served;
  CHECK(served.hello["hello"] == "fovea serve");
  CHECK(served.hello["version"] == 1);
  CHECK(served.hello["program"].is_string());
  constexpr Index n = 12, d = 4;
  const auto tensors = heads_of(n, d);
  const WireMessage answer = served.ask(attend("any id"), tensors);
  CHECK(answer.content["id"] == "any id");
  CHECK(answer.content["seconds"].get<double>() >= 0);
  CHECK(answer.content["notes"] == Json::array());
  const std::vector<float> z = z_of(answer);
  REQUIRE(z.size() == 2 * n * d);
  const auto backend = make_cpu_backend({.threads = 1});
  const auto head = [&](std::size_t of, Index begin) {
    const auto& values = std::get<std::vector<float>>(tensors[of].values);
    Matrix out(n, d);
    std::copy_n(values.begin() + begin, n * d, out.row(0));
    return out;
  };
  for (const Index h : {0, 1}) {
    const Problem problem = make_problem(head(0, h * n * d), head(1, 0), head(2, 0));
    Profile profile;
    Run run{profile};
    const Matrix expected =
        compute(problem, {.variant = &reference_variant()}, *backend, run).output.z;
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < d; ++c)
        CHECK(z[static_cast<std::size_t>((h * n + i) * d + c)] == expected(i, c));
  }
}

TEST_CASE("what a request says of its heads holds") {
  Served served;
  const auto tensors = heads_of(12, 4);
  Json some = attend(1, "window");
  some["parameters"] = {{"width", "0"}};  // each query sees itself: z = v
  some["heads"] = {1};
  some["seed"] = 3;
  CHECK(z_of(served.ask(some, tensors)) == std::get<std::vector<float>>(tensors[2].values));
  some["parameters"] = {{"width", 0}};
  CHECK(z_of(served.ask(some, tensors)).size() == 12 * 4);
  Json reversed = attend(2);
  reversed["heads"] = {1, 0};
  const std::vector<float> whole = z_of(served.ask(attend(3), tensors)),
                           turned = z_of(served.ask(reversed, tensors));
  CHECK(std::equal(whole.begin(), whole.begin() + 48, turned.begin() + 48));
  CHECK(std::equal(whole.begin() + 48, whole.end(), turned.begin()));
}

TEST_CASE("a request that is refused says what was found, and the server goes on") {
  Served served;
  const auto tensors = heads_of(6, 4);
  const auto refused = [&](const Json& changes, std::initializer_list<std::string> parts) {
    Json request = attend(7);
    request.update(changes);
    check_says(served.error_of(request, tensors), parts);
  };
  refused({{"do", "dance"}}, {"\"dance\"", "not known", "\"attend\", \"check\" or \"cancel\""});
  refused({{"do", {1, 2}}}, {"[1,2]", "not known"});
  refused({{"variant", "exakt"}}, {"unknown variant 'exakt'", "expected one of exact"});
  refused({{"variant", 3}}, {"the request", "\"variant\"", "expected the id"});
  refused({{"variant", "imported"}}, {"'imported'", "cannot be computed"});
  refused({{"parameters", {{"blok", 3}}}}, {"'blok'"});
  refused({{"variant", "window"}, {"parameters", {{"width", "many"}}}}, {"width", "many"});
  refused({{"parameters", 3}}, {"\"parameters\"", "expected an object"});
  refused({{"seed", -1}}, {"\"seed\"", "expected a whole number from 0"});
  refused({{"heads", 1}}, {"\"heads\"", "expected a list"});
  refused({{"heads", {0, 2}}}, {"\"heads\" has 2", "0 to 1"});
  refused({{"heads", {"x"}}}, {"\"heads\" has \"x\""});
  check_says(served.error_of(attend(1)), {"the request"});
  auto without = tensors;
  without.pop_back();
  check_says(served.error_of(attend(1), without), {"the request", "v"});
  auto other = tensors;
  other[0].shape = {2, 12, 2};
  check_says(served.error_of(attend(1), other), {"the request"});
  Json check{{"id", 2}, {"do", "check"}, {"variant", "hyper"}, {"parameters", {{"block", "64"}}}};
  CHECK(served.ask(check).content == Json{{"id", 2}});
  check["parameters"] = {{"block", "0"}};
  check_says(served.error_of(check), {"block", "0"});
  CHECK(z_of(served.ask(attend(3), tensors)).size() == 48);
  served.end();
  CHECK(served.error.empty());
}

TEST_CASE("what is cancelled says so") {
  Served served;
  const auto tensors = heads_of(4096, 16);
  WireMessage answer;
  Index id = 0;
  do {  // unless it was done before it could be cancelled
    served.here->send(attend(++id), tensors);
    served.here->send({{"do", "cancel"}, {"of", id}});
    served.here->send({{"do", "cancel"}, {"of", 1000}});  // which nobody asked for
    answer = served.answer();
    CHECK(answer.content["id"] == id);
  } while (!answer.content.contains("cancelled") && id < 100);
  CHECK(answer.content == Json{{"id", id}, {"cancelled", true}});
  CHECK(served.ask({{"id", 0}, {"do", "check"}, {"variant", "exact"}}).content == Json{{"id", 0}});
}

TEST_CASE("what is cancelled before its turn is not computed") {
  Served served;
  served.here->send(attend(1), heads_of(131072, 16));  // for minutes
  served.here->send(attend(2), heads_of(8, 4));
  served.here->send({{"do", "cancel"}, {"of", 2}});
  served.here->send({{"do", "cancel"}, {"of", 1}});
  CHECK(served.answer().content == Json{{"id", 1}, {"cancelled", true}});
  CHECK(served.answer().content == Json{{"id", 2}, {"cancelled", true}});
}

TEST_CASE("a server ends with the other process, whatever it computes") {
  Served served;
  served.here->send(attend(1), heads_of(131072, 16));  // for minutes
  served.here->send(attend(2), heads_of(8, 4));
  served.end();
  CHECK(served.error.empty());
  CHECK_FALSE(served.here->receive());
}

TEST_CASE("a server that is stopped ends as cancelled") {
  Served served;
  served.here->send(attend(1), heads_of(131072, 16));
  served.stop.request_stop();
  served.thread.join();
  CHECK(served.error == "cancelled");
}

TEST_CASE("bytes that are no message get an answer, and then the end") {
  const auto ended_by = [](const std::string& bytes) {
    Served served;
    REQUIRE(::write(served.raw, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    const std::string said = served.answer().content.value("error", "");
    served.end();
    CHECK(said == served.error);
    return said;
  };
  check_says(ended_by(std::string(8, '\0')), {"a message", "0 bytes"});
  check_says(ended_by(std::string(8, '\xff')), {"a message", "bytes", "are expected"});
  check_says(ended_by(std::string("\3\0\0\0\0\0\0\0abc", 11)), {"a message"});
}

}  // namespace
}  // namespace fovea::test
