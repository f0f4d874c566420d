#include "data/text.h"

#include <doctest/doctest.h>

#include <vector>

using namespace fovea;

TEST_CASE("lists have commas between their items, or what is given") {
  struct Item {
    std::string name;
    int size;
    std::string text() const { return name + "!"; }
  };
  const std::vector<Item> items{{"a", 1}, {"b", 2}, {"c", 3}};
  CHECK(join(items, &Item::name) == "a, b, c");
  CHECK(join(items, &Item::text, " or ") == "a! or b! or c!");
  CHECK(join(
            items, [](const Item& i) { return std::to_string(i.size); }, "") == "123");
  CHECK(join(std::vector<std::string>{"x"}) == "x");
  CHECK(join(std::vector<const char*>{"x", "y"}, {}, " ") == "x y");
  CHECK(join(std::vector<std::string>{}).empty());
  std::string list;
  add_item(list, "first", "; ");
  add_item(list, "second", "; ");
  CHECK(list == "first; second");
}
