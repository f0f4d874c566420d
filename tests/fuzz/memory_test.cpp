// Whichever allocation of an opening is refused: it ends with an error, and the next opening works.
#include <doctest/doctest.h>

#include <optional>

#include "allocations.h"
#include "data/error.h"
#include "fuzz/parsers.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The bytes of the smallest allocation that is refused. The library that reads JSON allocates
/// where it destroys a list or an object, up to 16 bytes for each of the members, and the standard
/// library copies a path where it lists a folder: both end the program when they cannot. Nothing:
/// Qt reads it, which leaves locks behind.
std::optional<std::size_t> smallest_refused(const std::string& parser) {
  for (const char* by_qt : {"text", "image", "figure"})
    if (parser == by_qt) return std::nullopt;
  for (const char* by_us : {"npz", "synthetic", "setting"})
    if (parser == by_us) return 0;
  return 1024;
}

}  // namespace

TEST_CASE(
    "memory: whichever allocation of an opening is refused, an error says so, and the next works") {
  for (const Parser& parser : parsers()) {
    CAPTURE(std::string(parser.name));
    const auto least = smallest_refused(parser.name);
    if (!least) continue;
    std::size_t refused = 0;
    for (const std::string& seed : parser.seeds()) {
      parser.parse(seed);  // what is made once and kept
      refused += refuse_each_allocation<Error>([&] { parser.parse(seed); }, *least);
      CHECK(accepts(parser, seed));
    }
    if (*least == 0) CHECK(refused > 0);
  }
}
