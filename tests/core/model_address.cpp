// Addresses of models: what is written is what is read, for any bytes.
#include "data/model_address.h"

#include <doctest/doctest.h>

#include "data/error.h"
#include "data/random.h"

using namespace fovea;

TEST_CASE("an address of a model is read as it was written, whatever its parts hold") {
  Random random(5, 0);
  const auto some = [&](std::size_t least) {
    std::string text;
    const std::size_t length = least + random.below(9);
    for (std::size_t i = 0; i < length; ++i)
      text += static_cast<char>(1 + random.below(255));  // any byte that a path may hold
    return text;
  };
  for (int trial = 0; trial < 2000; ++trial) {
    ModelAddress address{.folder = some(1)};
    if (trial % 3 == 1) address.text = some(0);
    if (trial % 3 == 2) address.input = some(1);
    if (trial % 5 == 4) address.decoder_text = some(0);
    if (trial % 2) address.most_tokens = static_cast<Index>(1 + random.below(131072));
    const std::string text = to_text(address);
    CAPTURE(text);
    CHECK(parse_model_address(text) == address);
    for (const char c : text) CHECK((c > 0x20 && c < 0x7F));
  }
  CHECK(to_text({.folder = "/a b", .text = "50 % of it?"}) ==
        "model:/a%20b?text=50%20%25%20of%20it%3F");
  CHECK(parse_model_address("model:/a?text=%c3%A9&max_tokens=7") ==
        ModelAddress{.folder = "/a", .text = "é", .most_tokens = 7});
}

TEST_CASE("one model is known however its address is written") {
  CHECK(same_model("model:/My Models/x?text=a", "model:/My%20Models/x?text=b"));
  CHECK(same_model("model:/x?text=a", "model:/x?input=b"));
  CHECK_FALSE(same_model("model:/x?text=a", "model:/x?text=a"));
  CHECK_FALSE(same_model("model:/x?text=a", "model:/y?text=a"));
  CHECK_FALSE(same_model("model:/x?text=a", "synthetic:golden"));
  CHECK_FALSE(same_model("model:?", "model:/x?text=a"));
}

TEST_CASE("an address of a model that is not valid is refused with what is wrong") {
  for (const auto& [address, why] :
       {std::pair{"models/minilm", "does not begin with model:"},
        {"model:", "names no model"},
        {"model:?text=a", "names no model"},
        {"model:m?text", "is no KEY=VALUE"},
        {"model:m?text=a&text=b", "'text' is no key of it, or occurs twice"},
        {"model:m?decoder_text=a&decoder_text=b",
         "'decoder_text' is no key of it, or occurs twice"},
        {"model:m?image=a.png", "'image' is no key of it"},
        {"model:m?input=", "names no file as its input"},
        {"model:m?text=a&input=b", "has both a text and an input"},
        {"model:m?text=50%", "'%' without two hexadecimal digits"},
        {"model:m?text=%4x", "'%' without two hexadecimal digits"},
        {"model:m?max_tokens=0", "max_tokens is '0', not a number from 1 to 131072"},
        {"model:m?max_tokens=1e3", "max_tokens is '1e3'"},
        {"model:m?max_tokens=131073", "max_tokens is '131073'"}}) {
    const std::string text = address;
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_model_address(text), doctest::Contains(why), UsageError);
  }
}
