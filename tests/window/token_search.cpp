// Text that is found in tokens, which divide words.
#include "window/token_search.h"

#include <doctest/doctest.h>

using namespace fovea;

namespace {

std::vector<std::pair<Index, Index>> places(const std::vector<std::string>& tokens,
                                            const char* text) {
  std::vector<std::pair<Index, Index>> out;
  for (const IndexRange& match :
       find_text({.tokens = tokens, .grid = {}}, std::ssize(tokens), QString::fromUtf8(text)))
    out.emplace_back(match.begin, match.end);
  return out;
}

using Places = std::vector<std::pair<Index, Index>>;

}  // namespace

TEST_CASE("a word is found in the tokens that it is divided into") {
  const std::vector<std::string> pieces{"[CLS]", "The", "F", "ove", "a", "of", "a", "f", "ove"};
  CHECK(places(pieces, "fovea") == Places{{2, 5}});
  CHECK(places(pieces, "FOV") == Places{{2, 4}, {7, 9}});  // as far as it is typed
  CHECK(places(pieces, "the fovea") == Places{{1, 5}});
  CHECK(places(pieces, "ove") == Places{{3, 4}, {8, 9}});
  CHECK(places(pieces, "he f").empty());  // it does not begin with a token
  CHECK(places(pieces, "foveal").empty());
  CHECK(places(pieces, "oveab").empty());
  CHECK(places(pieces, " ").empty());
}

TEST_CASE("words that tokens keep apart are found with the space between them") {
  const std::vector<std::string> bytes{"The", " f", "ove", "a", " of", " a", "\u00c4", " \u00e4u"};
  CHECK(places(bytes, "fovea") == Places{{1, 4}});
  CHECK(places(bytes, "of a") == Places{{4, 6}});
  CHECK(places(bytes, "ofa").empty());
  CHECK(places(bytes, "the fo") == Places{{0, 3}});
  CHECK(places(bytes, "\u00c4 \u00c4") == Places{{6, 8}});
  CHECK(places(bytes, " of") == Places{{4, 5}});
  CHECK(places(bytes, "of ") == Places{{4, 5}});  // a word is still to come
  const std::vector<std::string> lines{"foo",          "\u21b5", "bar", " baz",
                                       "\u21b5\u21b5", "foo",    "bar"};
  CHECK(places(lines, "foobar") == Places{{5, 7}});
  CHECK(places(lines, "foo bar") == Places{{0, 3}, {5, 7}});
}

TEST_CASE("numbers of tokens without names are not joined") {
  const auto found = find_text({}, 40, "12");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == IndexRange{12, 13});
}
