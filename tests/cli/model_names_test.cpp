// A model that is named on the command line as in the cache of Hugging Face's hub.
#include <doctest/doctest.h>

#include "cli/program.h"
#include "fake_model_cache.h"
#include "messages.h"

namespace fovea::test {

TEST_CASE("a model of the cache is a source by its name") {
  const FakeModelCache cache;
  cache.add_model("o--tiny");
  const Ended named = run_program({"info", "o/tiny", "--text", "the cat", "--json"});
  CAPTURE(named.err);
  REQUIRE(named.status == 0);
  const Ended by_path =
      run_program({"info", cache.snapshot("o--tiny", "abc123"), "--text", "the cat", "--json"});
  REQUIRE(by_path.status == 0);
  CHECK(named.json()["layers"] == by_path.json()["layers"]);
  CHECK(run_program({"info", "tiny", "--text", "the cat"}).status == 0);
}

TEST_CASE("a name that is no model of the cache is refused, with what to do") {
  const FakeModelCache cache;
  cache.add_model("o--tiny-bert");
  const Ended near = run_program({"info", "x/tiny", "--text", "the cat"});
  CHECK(near.status == 3);
  check_says(near.err, {"x/tiny", "has o/tiny-bert", "hf download x/tiny"});
  const Ended without_text = run_program({"info", "o/tiny-bert"});
  CHECK(without_text.status == 2);
  check_says(without_text.err, {"o/tiny-bert is a model: say what it reads with --text"});
  const Ended no_model = run_program({"info", bundled, "--text", "the cat"});
  CHECK(no_model.status == 2);
  check_says(no_model.err, {"--text goes with a model", "ORG/NAME of the local cache"});
}

}  // namespace fovea::test
