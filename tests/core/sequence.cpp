// How tokens are named.
#include "data/sequence.h"

#include <doctest/doctest.h>

using namespace fovea;

TEST_CASE("a token is named by its index and its text in quotes, shortened between characters") {
  Sequence text{.tokens = {"eye", "ääääääääääääääääääääääääää", ""}, .grid = {}};
  CHECK(text.numbered(0) == "0 “eye”");
  std::string shortened;
  for (int i = 0; i < 24; ++i) shortened += "ä";
  CHECK(text.numbered(1) == "1 “" + shortened + "…”");
  CHECK(text.numbered(2) == "2 “”");
  CHECK(text.numbered(7) == "7");
  const Sequence image{.tokens = {}, .grid = ImageGrid{.rows = 2, .cols = 3, .prefix = 1}};
  CHECK(image.numbered(0) == "0 class token");
  CHECK(image.numbered(5) == "5 patch (1, 1)");
}
