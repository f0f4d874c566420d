// Models that another process computes, with a stand-in for Python's worker that computes in NumPy
// and misbehaves on demand.
#include "worker/hosted_model.h"

#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <stop_token>
#include <thread>

#include "data/error.h"
#include "harness.h"
#include "memory_budget.h"
#include "messages.h"
#include "temporary_directory.h"
#include "worker/worker_process.h"

namespace fovea::test {
namespace {

/// A program in the place of Python that always runs fake_worker.py.
class FakePython {
 public:
  FakePython() {
    std::ofstream(path()) << "#!/bin/sh\nexec '" FOVEA_PYTHON "' '" FOVEA_TESTS
                             "/worker/fake_worker.py' \"$@\"\n";
    ::chmod(path().c_str(), 0700);
  }
  std::string path() const { return directory_ / "python"; }
  std::unique_ptr<HostedModel> model(const std::string& behaviour) const {
    return std::make_unique<HostedModel>(behaviour, std::make_unique<WorkerProcess>(WorkerStart{
                                                        .interpreter = {path(), "a test"},
                                                        .package = FOVEA_TESTS "/../app/python",
                                                        .model = "/models/" + behaviour,
                                                        .name = behaviour}));
  }

 private:
  TemporaryDirectory directory_;
};

std::string why(HostedModel& model, const HostedInput& input) {
  return message_of<Error>([&] { model.read(input); });
}

const HostedInput three_words{.text = "one two three", .most_tokens = 2048};

TEST_CASE("a hosted model is a source of all its heads, with tokens, mask, scale and notes") {
  const FakePython python;
  const auto model = python.model("fake");
  CHECK(model->description().architecture == "FakeModel");
  CHECK(model->description().reads_texts);
  double share = -1;
  const Source source = model->read(three_words, {}, [&](double s) { share = s; });
  CHECK(share >= 0);
  CHECK(source.kind == "model");
  CHECK(source.sequence.tokens == std::vector<std::string>{"one", "two", "three"});
  CHECK(source.notes == std::vector<std::string>{"a note"});
  CHECK(source.scale == 0.5);
  CHECK(source.causal == true);
  REQUIRE(source.layers.size() == 3);
  CHECK(source.layers[2].heads() == 2);
  CHECK(source.layers[2].lengths() == Lengths{3, 3});
  CHECK(source.layers[2].v.read(1)(2, 3) ==
        doctest::Approx(4 + 23.0 / 12));  // as fake_model.py has it
  // Again, at another length.
  CHECK(model->read({.text = "a b c d e", .most_tokens = 4}).sequence.tokens.size() == 4);
}

TEST_CASE("a hosted model of images gets the picture, and its patches are linked to it") {
  const FakePython python;
  const auto model = python.model("fake");
  const auto picture = std::make_shared<Picture>(Picture{6, 4, std::vector<std::uint8_t>(72)});
  for (std::size_t i = 0; i < 72; ++i) picture->rgb[i] = static_cast<std::uint8_t>(3 * i);
  const Source source = model->read({.picture = picture});
  REQUIRE(source.sequence.grid);
  CHECK(source.sequence.grid->rows == 2);
  CHECK(source.sequence.grid->cols == 3);
  CHECK(source.sequence.grid->prefix == 1);
  REQUIRE(source.picture);
  CHECK(source.picture->rgb == picture->rgb);
  CHECK(source.picture->width == 6);
}

TEST_CASE("what a hosted model cannot read is said, and it can be asked again") {
  const FakePython python;
  const auto model = python.model("fake");
  CHECK(why(*model, {.text = " ", .most_tokens = 9}) ==
        "fake: the text has no token; expected at least one word");
  CHECK_FALSE(model->has_ended());
  CHECK(model->read(three_words).layers.size() == 3);
}

TEST_CASE("a hosted model that is cancelled can be asked again") {
  const FakePython python;
  const auto model = python.model("slow");
  std::stop_source stop;
  CHECK_THROWS_AS(model->read(three_words, stop.get_token(), [&](double) { stop.request_stop(); }),
                  Cancelled);
  CHECK_FALSE(model->has_ended());
  CHECK(model->read({.text = "another text", .most_tokens = 9}).sequence.tokens.size() == 2);
}

TEST_CASE("a request that is cancelled while others are answered does not end the process") {
  const FakePython python;
  const auto model = python.model("fake");
  CHECK(model->read(three_words).layers.size() == 3);
  std::stop_source stop;
  stop.request_stop();  // as soon as it is its turn
  CHECK_THROWS_AS(model->read(three_words, stop.get_token()), Cancelled);
  CHECK_FALSE(model->has_ended());
  CHECK(model->read({.text = "another text", .most_tokens = 9}).sequence.tokens.size() == 2);
}

TEST_CASE("loading goes on when the first request is cancelled") {
  const FakePython python;
  const auto model = python.model("fake");
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(model->read(three_words, stop.get_token()), Cancelled);
  CHECK(model->read(three_words).layers.size() == 3);
}

TEST_CASE("a worker that refuses, dies, leaves, babbles or is another version says so") {
  const FakePython python;
  const auto said = [&](const std::string& behaviour) {
    const auto model = python.model(behaviour);
    const std::string message = why(*model, three_words);
    CHECK(model->has_ended());
    return message;
  };
  CHECK(said("refuses") == "no working torch: pip install torch");
  CHECK(said("dies").find("where memory runs out (SIGKILL)") != std::string::npos);
  CHECK(said("leaves").find("ended with 3: of this process") != std::string::npos);
  CHECK(said("babbles").find("sent something that is not a message") != std::string::npos);
  CHECK(said("old").find("another version of the Python package") != std::string::npos);
  CHECK(message_of<UnavailableError>([&] {
          WorkerProcess process({.interpreter = {"/nowhere/python", "a test"}});
        }).find("/nowhere/python cannot be started") != std::string::npos);
}

/// What a model gives: after each part, the names of the layers that are there.
using Steps = std::vector<std::vector<std::string>>;

Steps read_on(HostedReading& reading) {
  Steps steps;
  while (!reading.is_complete()) {
    reading.advance();
    steps.emplace_back();
    for (const Layer& layer : reading.source().layers) steps.back().push_back(layer.name);
  }
  return steps;
}

TEST_CASE("the first layers of a hosted model are there before the others") {
  const FakePython python;
  const auto model = python.model("stops");  // after the first layer, until it is cancelled
  std::stop_source stop;
  {
    HostedReading reading(*model, three_words);
    reading.advance();
    CHECK_FALSE(reading.is_complete());
    CHECK(reading.expected() == 3);
    const Source first = reading.source();
    REQUIRE(first.layers.size() == 1);
    CHECK(first.kind == "model");
    CHECK(first.sequence.tokens == std::vector<std::string>{"one", "two", "three"});
    CHECK(first.scale == 0.5);
    CHECK(first.notes.empty());
    CHECK(first.layers[0].q.read(1)(2, 3) == doctest::Approx(23.0 / 12));
    stop.request_stop();
    CHECK_THROWS_AS(reading.advance(stop.get_token()), Cancelled);
    // Nobody else is answered meanwhile.
    CHECK_THROWS_AS(model->description(stop.get_token()), Cancelled);
  }
  CHECK_FALSE(model->has_ended());
  CHECK(model->description().layers == 3);
}

TEST_CASE("layers that come one by one make the same source as all of them at once") {
  const FakePython python;
  const auto model = python.model("fake");
  HostedReading reading(*model, three_words);
  CHECK(read_on(reading) == Steps{{"layer0"},
                                  {"layer0", "layer1"},
                                  {"layer0", "layer1", "layer2"},
                                  {"layer0", "layer1", "layer2"}});
  const Source source = reading.source();
  CHECK(source.notes == std::vector<std::string>{"a note"});
  CHECK(source.layers[2].v.read(1)(2, 3) == doctest::Approx(4 + 23.0 / 12));
  reading.advance();                                   // there is nothing to wait for
  CHECK(model->read(three_words).layers.size() == 3);  // while the reading still exists
}

TEST_CASE("a package that knows no parts gives all layers in its one answer") {
  const FakePython python;
  const auto model = python.model("knows no parts");
  HostedReading reading(*model, three_words);
  CHECK(read_on(reading) == Steps{{"layer0", "layer1"}});
  CHECK(reading.source().notes == std::vector<std::string>{"a note"});
}

TEST_CASE("a picture that the model saw comes with its first layer, and its patches with it") {
  const FakePython python;
  const auto model = python.model("fake");
  const auto picture = std::make_shared<Picture>(Picture{6, 4, std::vector<std::uint8_t>(72)});
  HostedReading reading(*model, {.picture = picture});
  reading.advance();
  CHECK(reading.source().picture->width == 6);
  CHECK(reading.source().sequence.grid == ImageGrid{2, 3, 1});
  CHECK(read_on(reading).size() == 3);
  CHECK(reading.source().picture->width == 6);
}

TEST_CASE("a model that fails or falls between two layers says so, and what was there stays") {
  const FakePython python;
  const auto said = [&](const std::string& behaviour, bool ends) {
    const auto model = python.model(behaviour);
    HostedReading reading(*model, three_words);
    reading.advance();
    const std::string message = message_of<Error>([&] { reading.advance(); });
    CHECK(model->has_ended() == ends);
    CHECK_FALSE(reading.is_complete());
    CHECK(reading.source().layers.size() == 1);
    if (!ends) CHECK(model->description().layers == 3);  // others are answered
    return message;
  };
  CHECK(said("fails later", false) == "fails later: no memory for layer1");
  CHECK(said("falls", true).find("ended with 3: the last words") != std::string::npos);
}

TEST_CASE("layers that come twice, out of order, in part or not at all are refused") {
  const FakePython python;
  const auto says = [&](const char* behaviour, const char* words, bool ends = true) {
    CAPTURE(behaviour);
    const auto model = python.model(behaviour);
    const std::string message = why(*model, three_words);
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
    CHECK(model->has_ended() == ends);  // nothing that follows would be believed
  };
  says("says a layer twice", "sent 'layer0.k' twice");
  says("says layers out of order", "sent its layers out of order (expected part 0)");
  says("says a part twice", "out of order (expected part 1)");
  says("leaves a layer out", "left layers out (1 parts of them came)");
  says("forgets its layers", "left layers out");
  says("says no layer", "sent a part without a layer");
  says("invents a tensor", "sent 'layer0.bias' as a tensor that never came");
  says("names no tensor", "sent names of tensors that are no names");
  says("says half a layer", "layer0", false);
}

TEST_CASE("layers of other requests, before and after the end, are none of this one") {
  const FakePython python;
  for (const char* behaviour : {"speaks of another request", "speaks after the end"}) {
    CAPTURE(behaviour);
    const auto model = python.model(behaviour);
    for (int again = 0; again < 2; ++again) {
      const Source source = model->read(three_words);
      REQUIRE(source.layers.size() == 1);
      CHECK(source.layers[0].name == "layer0");
    }
  }
}

TEST_CASE("how many layers are expected is believed if it is a number") {
  const FakePython python;
  const auto model = python.model("counts without end");
  HostedReading reading(*model, three_words);
  reading.advance();
  CHECK(reading.expected() == 0);
  CHECK(read_on(reading).back() == std::vector<std::string>{"layer0", "layer1"});
}

TEST_CASE("a tensor that several layers have is sent once") {
  const FakePython python;
  const auto model = python.model("shares a bias");
  const Source source = model->read(three_words);
  REQUIRE(source.layers.size() == 2);
  const HeadTensor &first = source.layers[0].conditions.bias,
                   &second = source.layers[1].conditions.bias;
  CHECK(second.read(0)(1, 1) == 1);
  CHECK(second.bytes == first.bytes);
}

TEST_CASE("layers that together do not fit into memory are refused, and can be cancelled") {
  const FakePython python;
  const auto model = python.model("gives too much");
  SUBCASE("refused") {
    const Budget budget(smallest_checked);
    CHECK(why(*model, three_words).find("The layers of gives too much") != std::string::npos);
  }
  SUBCASE("cancelled") {
    std::stop_source stop;
    HostedReading reading(*model, three_words);
    reading.advance();
    stop.request_stop();
    CHECK_THROWS_AS(reading.advance(stop.get_token()), Cancelled);
  }
}

TEST_CASE(
    "a worker that ends between two requests is known to have ended, so that another starts") {
  const FakePython python;
  const auto model = python.model("retires");
  std::string message;
  while (message.empty()) message = why(*model, three_words);  // its first answers may still come
  CHECK(message.find("ended with 3") != std::string::npos);
  CHECK(model->has_ended());
}

TEST_CASE("a worker that does not answer can be cancelled, and ends with its model") {
  const FakePython python;
  std::stop_source stop;
  const auto model = python.model("mute");
  std::jthread later([&] { stop.request_stop(); });
  CHECK_THROWS_AS(model->read(three_words, stop.get_token()), Cancelled);
}

TEST_CASE("one process serves a model until another one is asked for") {
  const FakePython python;
  const auto asked = [&](const std::string& behaviour) {
    return hosted_model(behaviour, [&] { return python.model(behaviour); });
  };
  const auto first = asked("fake");
  CHECK(asked("fake") == first);
  const auto other = asked("dies");
  CHECK(other != first);
  CHECK(first->read(three_words).layers.size() == 3);  // somebody still holds it
  CHECK(why(*other, three_words) != "");
  CHECK(asked("dies") != other);  // it has ended
}

}  // namespace
}  // namespace fovea::test
