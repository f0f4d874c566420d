#include "io/json.h"

#include <doctest/doctest.h>

#include <string>

#include "allocations.h"
#include "data/error.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("json: the tree is that of the library's own parser") {
  for (const std::string text :
       {"null", "true", "-3", "18446744073709551615", "0.1", "-1e-300", R"("\u00e9\n")", "[]", "{}",
        "[[],{},[1,[2,{\"a\":[3]}]],\"x\"]", R"({"b":{"c":[1,{"d":null}],"a":2.5},"a":[{},{}]})"}) {
    CAPTURE(text);
    CHECK(parse_json("x", text) == Json::parse(text));
  }
}

TEST_CASE("json: errors say what was found and where") {
  const auto read = [](const std::string& text) { return parse_json("x", text); };
  CHECK_SAYS(read("[1,"), "x: not JSON: ", "column 4");
  CHECK_SAYS(read("[1e999]"), "not JSON: ", "1e999");
  CHECK_SAYS(read("[1] 2"), "not JSON: ", "column 5");
  CHECK_SAYS(read(R"({"a":{"b":1,"c":2,"b":3}})"), "the name 'b' occurs twice");
  CHECK_NOTHROW(read(R"({"a":{"b":1},"c":{"b":1}})"));
  const std::string open(33, '['), close(33, ']');
  CHECK_NOTHROW(read(open + close));
  CHECK_SAYS(read(open + "0" + close), "nested more than 32 deep");
  CHECK_SAYS(read(open + "[]" + close), "nested more than 32 deep");
}

// Many values of one container: with time in proportion to their square this takes minutes.
TEST_CASE("json: an excerpt of a text that is not UTF-8 is ASCII") {
  CHECK(excerpt(Json("a\xf9")) == R"("a\ufffd")");
}

TEST_CASE("json: half a million children are read") {
  std::string list = "[", object = "{";
  for (int i = 0; i < 500000; ++i) {
    list += "{},";
    object += "\"" + std::to_string(i) + "\":[],";
  }
  CHECK(parse_json("x", list + "0]").size() == 500001);
  CHECK(parse_json("x", object + "\"end\":0}").size() == 500001);
}

// At most three times as much is asked for: what is refused needs much memory.
TEST_CASE("json: values take the memory that is asked for, and no small part of it") {
  const auto check = [](const std::string& what, const std::string& text) {
    CAPTURE(what);
    begin_peak();
    { const Json tree = parse_json("x", text); }
    const auto peak = static_cast<double>(peak_bytes());
    CHECK(peak <= json_bytes(text));
    CHECK(json_bytes(text) <= 3 * peak + 2000);
  };
  const std::string word(9, 'w'), sentence(40, 's'), escaped = R"(\"\\,[{:)";
  // Lengths just after a list has grown, and just before.
  for (const int count : {1, 2, 3, 100, 1024, 1025, 40000, 65537})
    for (const std::string& value :
         {std::string("0"), std::string("-1.5"), std::string("{}"), std::string("[]"),
          std::string("[1,2]"), std::string("[1,2,3]"), std::string("\"\""), "\"" + word + "\"",
          "\"" + sentence + "\"", "\"" + escaped + "\"", "{\"" + word + "\":1}",
          "{\"" + sentence + "\":[\"" + word + "\"]}"}) {
      std::string list = "[", object = "{";
      for (int i = 0; i < count; ++i) {
        list += (i > 0 ? "," : "") + value;
        object += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + value;
      }
      check(std::to_string(count) + " of " + value, list + "]");
      check(std::to_string(count) + " inside, of " + value, "{\"tokens\":" + list + "]}");
      check(std::to_string(count) + " named " + value, object + "}");
    }
  check("one long string", "\"" + std::string(1000000, 'x') + "\"");
}
