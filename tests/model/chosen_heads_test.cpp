// Which heads a text names.
#include "model/chosen_heads.h"

#include <doctest/doctest.h>

#include <string>

#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// "0.1 2.0", of a model of 3 layers of 4 heads.
std::string heads_of(const std::string& text) {
  const ChosenHeads chosen(text, 3, 4);
  std::string out;
  Index count = 0;
  for (Index layer = 0; layer < 3; ++layer)
    for (Index head = 0; head < 4; ++head)
      if (chosen.has(layer, head)) {
        out += (count++ ? " " : "") + std::to_string(layer) + "." + std::to_string(head);
      }
  CHECK(chosen.size() == count);
  CHECK(std::to_string(chosen.first_layer()) == out.substr(0, 1));
  return out;
}

std::string refusal(const std::string& text) {
  return message_of<UsageError>([&] { ChosenHeads(text, 3, 4); });
}

}  // namespace

TEST_CASE("heads are chosen by layers, by heads, by ranges and by stars") {
  CHECK(heads_of("1") == "1.0 1.1 1.2 1.3");
  CHECK(heads_of("1-2") == "1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3");
  CHECK(heads_of("2.1") == "2.1");
  CHECK(heads_of("*.3") == "0.3 1.3 2.3");
  CHECK(heads_of("0-1.2-3") == "0.2 0.3 1.2 1.3");
  CHECK(heads_of(" 2.1 , 0.*,2.1") == "0.0 0.1 0.2 0.3 2.1");
  for (const char* all : {"all", "*", "*.*", "0-2", "1,all"})
    CHECK(ChosenHeads(all, 3, 4).size() == 12);
}

TEST_CASE("the text of a choice is the shortest one, and parses to the same choice") {
  const auto text = [](const char* of) { return ChosenHeads(of, 5, 4).text(); };
  CHECK(text("all") == "all");
  CHECK(text("*.0-3") == "all");
  CHECK(text("3,1,2.*") == "1-3");
  CHECK(text("4,0.1,0.2,2.3") == "4,0.1-2,2.3");
  CHECK(ChosenHeads(5, 4).text().empty());
  CHECK(ChosenHeads(5, 4).first_layer() == 5);
  for (unsigned bits = 1; bits < 512; ++bits) {  // every choice in 3 layers of 3 heads
    ChosenHeads chosen(3, 3);
    for (Index i = 0; i < 9; ++i)
      if (bits >> i & 1) chosen.choose(i / 3, i % 3);
    const std::string words = chosen.text();
    CAPTURE(words);
    CHECK(ChosenHeads(words, 3, 3) == chosen);
  }
}

TEST_CASE("what names no heads is refused with what is wrong and what is expected") {
  for (const char* wrong : {"", " ", "1,", "a", "1.", ".1", "2-1", "-1", "1--2", "1.2.3", "1.all",
                            "0x1", "99999999999999999999"}) {
    CAPTURE(wrong);
    check_says(refusal(wrong), {"is no number and no range", "25-29"});
  }
  check_says(refusal("3"), {"'3'", "the layers 0 to 2"});
  check_says(refusal("1.4"), {"the heads 0 to 3"});
}
