#include "variants/schema.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>

#include "data/error.h"
#include "data/number_text.h"
#include "data/text.h"

namespace fovea {
namespace {

std::string expected(const Field& field) {
  if (!field.choices.empty()) return "one of " + join(field.choices);
  const std::string range =
      " in [" + format_exactly(field.min) + ", " + format_exactly(field.max) + "]";
  if (std::holds_alternative<std::int64_t>(field.standard))
    return (field.must_be_even ? "an even integer" : "an integer") + range;
  if (std::holds_alternative<double>(field.standard)) return "a number" + range;
  if (std::holds_alternative<std::vector<double>>(field.standard))
    return "numbers, separated by commas, each" + range;
  return "a text";
}

[[noreturn]] void refuse(const Field& field, const std::string& found) {
  throw UsageError(field.id + " is '" + found + "'; expected " + expected(field));
}

template <class T>
T parse(const Field& field, const std::string& text, const std::string& whole) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(field, whole);
  return value;
}

Value parse_value(const Field& field, const std::string& text) {
  if (std::holds_alternative<std::int64_t>(field.standard))
    return parse<std::int64_t>(field, text, text);
  if (std::holds_alternative<double>(field.standard)) return parse<double>(field, text, text);
  if (std::holds_alternative<std::string>(field.standard)) return text;
  std::vector<double> list;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, ',');)
    list.push_back(parse<double>(field, item, text));
  return list;
}

void check_value(const Field& field, const Value& value) {
  const auto in_range = [&](double x) { return x >= field.min && x <= field.max; };  // NaN is not
  if (value.index() != field.standard.index()) refuse(field, to_text(value));
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    if (!in_range(static_cast<double>(*i)) || (field.must_be_even && *i % 2 != 0))
      refuse(field, to_text(value));
  } else if (const auto* x = std::get_if<double>(&value)) {
    if (!in_range(*x)) refuse(field, to_text(value));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    if (!field.choices.empty() && std::ranges::find(field.choices, *text) == field.choices.end())
      refuse(field, *text);
  } else {
    for (double item : std::get<std::vector<double>>(value))
      if (!in_range(item)) refuse(field, to_text(value));
  }
}

}  // namespace

Index short_size(Index n, Index paper) {
  const auto eighth = static_cast<std::uint64_t>(std::max<Index>(n / 8, 2));
  return std::min(paper, static_cast<Index>(std::bit_floor(eighth)));
}

Value value_for_length(const Field& field, Index n) {
  return n < default_length && field.for_short_head ? field.for_short_head(n) : field.standard;
}

std::vector<int> coarse_to_fine(int below, int above) {
  std::vector<int> steps;
  for (const int first : {0, 1})
    for (int size = first; size <= std::max(below, above); size += 2) {
      if (size <= below) steps.push_back(-size);
      if (size <= above && size > 0) steps.push_back(size);
    }
  return steps;
}

std::function<std::vector<Value>(Index n)> try_sizes(const Field& field, std::int64_t least,
                                                     int steps) {
  return [field, least, steps](Index n) {
    const Value standard = value_for_length(field, n);
    const auto middle = std::get<std::int64_t>(standard);
    const std::int64_t most = std::min<std::int64_t>(n / 2, static_cast<std::int64_t>(field.max));
    int below = 0, above = 0;
    while (below < steps && (middle >> (below + 1)) >= least) ++below;
    while (above < steps && (middle << (above + 1)) <= most) ++above;
    std::vector<Value> sizes;
    for (const int step : coarse_to_fine(below, above))
      sizes.emplace_back(step < 0 ? middle >> -step : middle << step);
    return sizes;
  };
}

std::function<std::vector<Value>(Index n)> try_choices(const Field& field) {
  return [choices = field.choices](Index) {
    return std::vector<Value>{choices.begin(), choices.end()};
  };
}

Values defaults(const Schema& schema) {
  Values values;
  for (const auto& field : schema) values.push_back(field.standard);
  return values;
}

bool is_used(const Field& field, const Schema& schema, const Values& values) {
  if (!field.only_with) return true;
  const auto& [id, text] = *field.only_with;
  const auto other = std::ranges::find(schema, id, &Field::id);
  return to_text(values[static_cast<std::size_t>(other - schema.begin())]) == text;
}

void set_value(const Schema& schema, Values& values, const std::string& id,
               const std::string& text) {
  std::vector<std::string> known;
  for (std::size_t f = 0; f < schema.size(); ++f) {
    known.push_back(schema[f].id);
    if (schema[f].id != id) continue;
    Value value = parse_value(schema[f], text);
    check_value(schema[f], value);
    values[f] = std::move(value);
    return;
  }
  throw UsageError("unknown parameter '" + id + "'; " +
                   (known.empty() ? "this variant has none" : "expected one of " + join(known)));
}

void check_values(const Schema& schema, const Values& values) {
  if (values.size() != schema.size())
    throw UsageError(std::to_string(values.size()) + " parameter values; expected " +
                     std::to_string(schema.size()));
  for (std::size_t f = 0; f < schema.size(); ++f) check_value(schema[f], values[f]);
}

std::string to_text(const Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* x = std::get_if<double>(&value)) return format_exactly(*x);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return join(std::get<std::vector<double>>(value), format_exactly, ",");
}

}  // namespace fovea
