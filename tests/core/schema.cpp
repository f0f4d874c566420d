// Parameters from text: types, ranges and messages.
#include "variants/schema.h"

#include <doctest/doctest.h>

#include "data/error.h"
#include "variants/variant.h"
#include "views/views.h"

using namespace fovea;

namespace {

const Schema schema{
    {.id = "block", .standard = std::int64_t{16}, .min = 2, .max = 64, .must_be_even = true},
    {.id = "epsilon", .standard = 0.5, .min = 0, .max = 1},
    {.id = "mode", .standard = std::string("a"), .choices = {"a", "b"}},
    {.id = "alpha", .standard = std::vector<double>{}, .min = -2, .max = 2}};

std::string message_of(const std::string& id, const std::string& text) {
  Values values = defaults(schema);
  try {
    set_value(schema, values, id, text);
  } catch (const UsageError& error) {
    CHECK(values == defaults(schema));
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("schema: good values are taken") {
  Values values = defaults(schema);
  set_value(schema, values, "block", "32");
  set_value(schema, values, "epsilon", "2.5e-1");
  set_value(schema, values, "mode", "b");
  set_value(schema, values, "alpha", "1,-0.5,2");
  CHECK(values ==
        Values{std::int64_t{32}, 0.25, std::string("b"), std::vector<double>{1, -0.5, 2}});
  CHECK_NOTHROW(check_values(schema, values));
  CHECK(to_text(values[3]) == "1,-0.5,2");
}

TEST_CASE("schema: bad values are refused with parameter, found and expected") {
  CHECK(message_of("block", "3") == "block is '3'; expected an even integer in [2, 64]");
  CHECK(message_of("block", "66") == "block is '66'; expected an even integer in [2, 64]");
  CHECK(message_of("block", "8x") == "block is '8x'; expected an even integer in [2, 64]");
  CHECK(message_of("block", "") == "block is ''; expected an even integer in [2, 64]");
  CHECK(message_of("block", "99999999999999999999") != "");
  CHECK(message_of("epsilon", "nan") == "epsilon is 'nan'; expected a number in [0, 1]");
  CHECK(message_of("epsilon", "1.01") == "epsilon is '1.01'; expected a number in [0, 1]");
  CHECK(message_of("mode", "c") == "mode is 'c'; expected one of a, b");
  CHECK(message_of("alpha", "1,3") ==
        "alpha is '1,3'; expected numbers, separated by commas, each in [-2, 2]");
  CHECK(message_of("alpha", "1,,1") != "");
  CHECK(message_of("blok", "3") ==
        "unknown parameter 'blok'; expected one of block, epsilon, mode, alpha");
}

TEST_CASE("schema: every default of every variant passes its own check, and survives text") {
  for (const Variant& variant : variants()) {
    Values values = defaults(variant.schema);
    CHECK_NOTHROW(check_values(variant.schema, values));
    for (std::size_t f = 0; f < variant.schema.size(); ++f) {
      set_value(variant.schema, values, variant.schema[f].id, to_text(values[f]));
      CHECK(!variant.schema[f].label.empty());
      CHECK(!variant.schema[f].meaning.empty());
    }
    CHECK(values == defaults(variant.schema));
  }
}

TEST_CASE("schema: a grid goes from coarse to fine, outwards from its middle") {
  CHECK(coarse_to_fine(0, 0) == std::vector<int>{0});
  CHECK(coarse_to_fine(1, 4) == std::vector<int>{0, 2, 4, -1, 1, 3});
  CHECK(coarse_to_fine(3, 3) == std::vector<int>{0, -2, 2, -1, 1, -3, 3});
}

TEST_CASE("schema: sizes to try are powers of two times the one for the length, up to half of it") {
  Field field{.id = "block", .standard = std::int64_t{16}, .min = 2, .max = 64};
  const auto sizes = [](const std::vector<Value>& values) {
    std::vector<std::int64_t> out;
    for (const Value& value : values) out.push_back(std::get<std::int64_t>(value));
    return out;
  };
  using Sizes = std::vector<std::int64_t>;
  CHECK(sizes(try_sizes(field, 2)(5000)) == Sizes{16, 4, 64, 8, 32, 2});
  CHECK(sizes(try_sizes(field, 4, 1)(5000)) == Sizes{16, 8, 32});
  CHECK(sizes(try_sizes(field, 2)(64)) == Sizes{16, 4, 8, 32, 2});
  CHECK(sizes(try_sizes(field, 2)(8)) == Sizes{16, 4, 8, 2});  // never without the default
  field.for_short_head = [](Index n) { return Value(std::int64_t{n / 8}); };
  CHECK(sizes(try_sizes(field, 2)(64)) == Sizes{8, 2, 32, 4, 16});
  CHECK(sizes(try_sizes(field, 2)(default_length)) == Sizes{16, 4, 64, 8, 32, 2});
}

TEST_CASE("schema: a field that needs another value is used with that value alone") {
  int needing = 0;
  for (const Variant& variant : variants())
    for (const Field& field : variant.schema) {
      CAPTURE(variant.id);
      CAPTURE(field.id);
      Values values = defaults(variant.schema);
      if (!field.only_with) {
        CHECK(is_used(field, variant.schema, values));
        continue;
      }
      ++needing;
      const auto& [id, text] = *field.only_with;
      set_value(variant.schema, values, id, text);  // throws where there is no such value
      CHECK(is_used(field, variant.schema, values));
      const auto other = std::ranges::find(variant.schema, id, &Field::id);
      for (const std::string& choice : other->choices) {
        set_value(variant.schema, values, id, choice);
        CHECK(is_used(field, variant.schema, values) == (choice == text));
      }
    }
  CHECK(needing > 0);
}
