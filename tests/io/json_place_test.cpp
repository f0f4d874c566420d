#include "io/json_place.h"

#include <doctest/doctest.h>

#include "messages.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("what a JSON file holds is refused by its path, what is there and what is expected") {
  const std::string file = "x.json";
  const Json json = Json::parse(R"({"a": {"b": [1, "two", -3, null]}, "none": null})");
  const JsonPlace document(file, json);
  const auto items = document.at("a").at("b").items();
  CHECK(items[0].as<int>() == 1);
  CHECK(items[1].as<std::string>() == "two");
  CHECK_FALSE(document.find("none"));
  CHECK_FALSE(document.find("other"));
  CHECK_SAYS(items[1].as<int>(), "x.json: 'a.b[1]' is \"two\"; expected a whole number");
  CHECK_SAYS(items[2].as<std::uint64_t>(), "'a.b[2]' is -3; expected a whole number of at least 0");
  CHECK_SAYS(items[2].whole(0, "a count"), "'a.b[2]' is -3; expected a count");
  CHECK_SAYS(items[3].as<bool>(), "'a.b[3]' is null; expected true or false");
  CHECK_SAYS(items[0].find("c"), "'a.b[0]' is 1; expected an object");
  CHECK_SAYS(document.at("none"), "'none' is missing; expected it");
  CHECK_SAYS(document.at("a").at("c", "a list"), "'a.c' is missing; expected a list");
  CHECK_SAYS(document.at("a").items("a list of heads"), "expected a list of heads");
  CHECK_SAYS(document.items(), "x.json: the document is {");
  CHECK_SAYS(document.as<double>(), "expected a number");
}

TEST_CASE(
    "numbers that a type does not hold are refused, whatever the library would make of them") {
  const std::string file = "x.json";
  const auto whole = [&](const char* text) {
    const Json json = Json::parse(text);
    return JsonPlace(file, json).as<std::int32_t>();
  };
  CHECK(whole("-7") == -7);
  CHECK(whole("3e2") == 300);
  for (const char* text : {"2147483648", "1.5", "1e300", "18446744073709551615", "true"})
    CHECK_SAYS(whole(text), "expected a whole number");
}
