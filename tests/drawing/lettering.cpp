// Text broken into lines.
#include <doctest/doctest.h>

#include "drawing/fixed_lettering.h"

using namespace fovea::drawing;

TEST_CASE("lines break at spaces, within long words at their seams, and never exceed their room") {
  const FixedLettering letters;
  const std::string text =
      "H-Transformer-1D and HyperAttention of n = 4096 tokens keep 12 % of 3 × 4 blocks";
  for (double room = 40; room < 600; room += 7)
    for (const std::string& line : letters.wrapped(text, room, 20)) {
      CHECK(letters.width(line) <= room);
      CHECK_FALSE(line.ends_with(' '));
      if (room > 100) {  // there is room for a quantity
        CHECK_FALSE(line.ends_with('='));
        CHECK_FALSE(line.starts_with('%'));
      }
    }
  CHECK(letters.wrapped("a b c", 600, 1) == std::vector<std::string>{"a b c"});
  CHECK(letters.wrapped("one\ntwo", 600, 5) == std::vector<std::string>{"one", "two"});
  // "abc def" would fit, but not with its comma.
  CHECK(letters.wrapped("abc def, ghi", 50, 5) == std::vector<std::string>{"abc", "def,", "ghi"});
}

TEST_CASE("a word too long for a line is parted between letters before it is elided") {
  const FixedLettering letters;  // 6.6 wide
  using Lines = std::vector<std::string>;
  CHECK(letters.wrapped("H-Transformer-1D", 60, 3) == Lines{"H-", "Transfor-", "mer-1D"});
  CHECK(letters.wrapped("Treeformer TF", 60, 3) == Lines{"Treefor-", "mer TF"});
  CHECK(letters.wrapped("Treeformer TF", 70, 3) == Lines{"Treeformer", "TF"});
  CHECK(letters.wrapped("12345678901", 60, 3) == Lines{"123456…"});  // no letters
  CHECK(letters.wrapped("H-Transformer-1D", 60, 2).back() == "Transf…");
  // Other letters, other lines.
  CHECK(letters.wrapped("Treeformer", 60, 3, {9}) == Lines{"Treeformer"});
  CHECK(letters.line({20}) == 25);
}

TEST_CASE("what is left out is replaced by an ellipsis, between characters") {
  const FixedLettering letters;
  const std::string text = "output error ‖Z̃ − Z‖";
  for (double room = 0; room < 200; room += 3) {
    const std::string kept = letters.elided(text, room);
    CHECK(letters.width(kept) <= room);
    if (!kept.empty() && kept != text) {
      REQUIRE(kept.ends_with("…"));
      const std::string begin = kept.substr(0, kept.size() - std::string("…").size());
      CHECK(text.starts_with(begin));
      // The next byte begins a character.
      CHECK((static_cast<unsigned char>(text[begin.size()]) & 0xC0) != 0x80);
    }
  }
  CHECK(letters.wrapped("one two three", 60, 1).front().ends_with("…"));
}

TEST_CASE("texts of any length are measured in linear time") {
  struct Counting : FixedLettering {
    double width(const std::string& text, Letters face = {}) const override {
      measured += text.size();
      return FixedLettering::width(text, face);
    }
    mutable std::size_t measured = 0;
  };
  // Without bounds the word took the cube of its length, minutes for a title of 20000 letters. A
  // line of 30 letters is found with less than 20 measurements of up to 64.
  const Counting letters;
  const std::string word(20000, 'x');
  CHECK(letters.wrapped(word, 200, 3).size() == 3);
  CHECK(letters.measured < 60 * word.size());
  letters.measured = 0;
  CHECK(letters.elided(word, 200) == std::string(27, 'x') + "…");
  CHECK(letters.measured < 2 * word.size());
}

TEST_CASE("white space of tokens is named") {
  const FixedLettering letters;
  CHECK(letters.readable("a\nb\t") == "a↵b⇥");
  CHECK(letters.readable(" eye") == "·eye");
  CHECK(letters.readable("a b") == "a b");
  CHECK(letters.readable("\x7f") == "U+007F");
  CHECK(letters.readable("\xff") == "U+FFFD");
}
