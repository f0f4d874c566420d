// Names of files and tokens that would change what a terminal shows: they are shown escaped, and
// attention is computed from them as they are.
#include <doctest/doctest.h>

#include "cli/program.h"
#include "data/utf8.h"
#include "messages.h"

using namespace fovea::test;

namespace {

const std::string hostile = "a\x1b[31mb\n\xff<b>c";
const std::string harmless = "a\\x1B[31mb\\n\\xFF<b>c";

bool is_safe(const std::string& text) {
  std::string without_ends = text;
  std::erase(without_ends, '\n');
  return fovea::printable(without_ends) == without_ends;
}

}  // namespace

TEST_CASE("the name of a file is shown escaped, in results and in messages") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(hostile + ".txt", "some words");
  const Ended info = run_program({"info", path});
  CHECK(info.status == 0);
  CHECK(is_safe(info.out));
  CHECK(info.out.starts_with(harmless + "\n"));
  CHECK(contains(info.out, "/" + harmless + ".txt\n"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", directory / (hostile + ".npz")},
        {hostile},
        {"info", path, hostile},
        {"compute", path, "--variant", hostile}}) {
    const Ended refused = run_program(arguments);
    CAPTURE(refused.err);
    CHECK(refused.status > 1);
    CHECK(is_safe(refused.err));
    CHECK(contains(refused.err, harmless));
  }
}

TEST_CASE("tokens are shown escaped, and attention is that of the tokens as they are") {
  const TemporaryDirectory directory;
  const std::string lines = "a\x1b[31m\nb\tc\n<b>d\n";
  const std::string path = directory.write("t.txt", lines),
                    same = directory.write("s.txt", "a\\x1B[31m\nb\\tc\n<b>d\n");
  const Ended info = run_program({"info", path, "--one-token-per-line"});
  CHECK(info.status == 0);
  CHECK(is_safe(info.out));
  CHECK(contains(info.out, "3 tokens: a\\x1B[31m b\\tc <b>d\n"));
  const auto error = [](const std::string& source) {
    return document_of({"compute", source, "--one-token-per-line", "--variant", "linear", "--json"})
        .at("metrics")
        .at(0)
        .at("output_rel_fro")
        .get<double>();
  };
  CHECK(error(path) != error(same));
}

TEST_CASE("names of spans and of what is measured are shown escaped") {
  const TemporaryDirectory directory;
  const std::string text = directory.write("t.txt", "some words");
  const Ended spans =
      run_program({"spans", text, "--variant", "exact", "--span", hostile + "=0:1"});
  CHECK(spans.status == 0);
  CHECK(is_safe(spans.out));
  CHECK(contains(spans.out, harmless));
  const std::string path = directory.write(hostile + ".txt", "some words");
  for (const char* format : {"text", "latex", "markdown"}) {
    const Ended bench =
        run_program({"bench", path, "--variant", "exact", "--repeat", "1", "--format", format});
    CAPTURE(bench.err);
    CHECK(bench.status == 0);
    CHECK(is_safe(bench.out));
    CHECK(contains(bench.out, harmless));
  }
}
