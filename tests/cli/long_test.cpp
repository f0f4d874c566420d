// Heads beyond 8192 tokens: figures of estimates, and of everything.
#include <doctest/doctest.h>

#include "cli/program.h"
#include "io/bytes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Captions may be broken into lines anywhere between words.
std::string words_of(const std::string& svg) {
  std::string words;
  bool tag = false, space = false;
  for (const char c : svg) {
    if (c == '<') tag = true;
    const bool blank = tag || c == '\n' || c == ' ';
    if (blank && !space) words += ' ';
    if (!blank) words += c;
    space = blank;
    if (c == '>') tag = false;
  }
  return words;
}

std::string figure(const TemporaryDirectory& scratch, std::vector<std::string> more) {
  const std::string file = scratch / "figure.svg";
  std::vector<std::string> arguments{"render",    "synthetic:clusters?n=9000&d=8",
                                     "--variant", "exact",
                                     "--variant", "h1d",
                                     "--view",    "heatmap",
                                     "--view",    "error",
                                     "--width",   "16in",
                                     "-o",        file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = run_program(arguments);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  return words_of(read_bytes(file));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("an estimate of a long head is labelled in every panel, and the exact figure has none") {
  const TemporaryDirectory scratch;
  // Two heatmaps and one error map of pixels of 16 tokens.
  CHECK(count(figure(scratch, {"--estimate"}), "estimate from 8 of 16 rows") == 3);
  const std::string exact = figure(scratch, {"--captions", "full"});
  CHECK(count(exact, "estimate") == 0);
  CHECK(count(exact, "mean of 16") == 3);
}

TEST_CASE("an estimate is refused for views that need all of exact attention") {
  const TemporaryDirectory scratch;
  for (const char* view : {"output", "timing"}) {
    const Ended ended = run_program({"render", "synthetic:clusters?n=9000&d=8", "--estimate",
                                     "--view", view, "-o", scratch / "figure.png"});
    CHECK(ended.status == 2);
    CHECK(ended.err.find("leave out --estimate") != std::string::npos);
    CHECK(scratch.files().empty());
  }
}
