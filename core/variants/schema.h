// A Schema describes the parameters of a variant: the one place that knows their ranges, units,
// defaults and meaning. Forms, the command line, session files and tests loop over it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// A choice travels as its name.
using Value = std::variant<std::int64_t, double, std::string, std::vector<double>>;

enum class Axis { linear, log2 };

struct Field {
  std::string id, label, unit, meaning;
  Value standard;                    // the default; its alternative is the type
  double min = 0, max = 0;           // of numbers, and of each number of a list
  Axis axis = Axis::linear;          // how a slider moves
  std::vector<std::string> choices;  // not empty: the text is one of these
  bool must_be_even = false;
  bool causal_only = false;  // without a causal mask it changes nothing
  /// Id and text of another field's value, without which this one changes nothing.
  std::optional<std::pair<std::string, std::string>> only_with = {};
  /// How many tokens (or keys) a value spans; empty, or nothing for a value: it is no such size.
  /// The parameters of a head do not hold for its first n tokens where they span n of them or more.
  std::function<std::optional<double>(const Value&)> span = {};
  /// The value for a head of n tokens, where n is below default_length; empty means the default.
  std::function<Value(Index n)> for_short_head = {};
  /// Ids of the fields that describe the same thing, and are replaced together with this one.
  std::vector<std::string> followers = {};
  /// The values worth comparing on a head of n tokens, from coarse to fine; empty means only the
  /// one of value_for_length.
  std::function<std::vector<Value>(Index n)> worth_trying = {};
};

/// The papers' defaults are for heads of this many tokens and more; most sizes among them would
/// make shorter ones exact.
inline constexpr Index default_length = 4096;

/// A power of two near an eighth of n tokens, at most the paper's size.
Index short_size(Index n, Index paper);

/// The default, or for a head of fewer than default_length tokens what suits it.
Value value_for_length(const Field& field, Index n);

/// The steps -below .. above of a grid, from coarse to fine: 0, every second one outwards, then
/// those between: 0, -2, 2, -4, ..., -1, 1, -3, ...
std::vector<int> coarse_to_fine(int below, int above);

/// For Field::worth_trying of a size: its value for the length, and that times powers of two, from
/// `least` to half of the tokens, in the order of coarse_to_fine; at most `steps` to each side.
std::function<std::vector<Value>(Index n)> try_sizes(const Field& field, std::int64_t least,
                                                     int steps = 20);

/// For Field::worth_trying of a choice: all of its names.
std::function<std::vector<Value>(Index n)> try_choices(const Field& field);

using Schema = std::vector<Field>;
using Values = std::vector<Value>;  // in the order of the schema

Values defaults(const Schema& schema);

/// Whether the field changes anything among these values.
bool is_used(const Field& field, const Schema& schema, const Values& values);

/// Sets `id` from text. Throws UsageError naming the parameter, what was found and what is
/// expected.
void set_value(const Schema& schema, Values& values, const std::string& id,
               const std::string& text);

/// Throws UsageError when a value has another type, is out of range or not among the choices.
void check_values(const Schema& schema, const Values& values);

std::string to_text(const Value& value);

/// Field<P>: a schema entry together with the way into the typed struct P.
template <class P>
struct TypedField {
  Field field;
  std::function<void(P&, const Value&)> write;
};

/// The struct that the values of these fields describe.
template <class P>
P typed_values(const std::vector<TypedField<P>>& fields, const Values& values) {
  P typed;
  for (std::size_t f = 0; f < fields.size(); ++f) fields[f].write(typed, values[f]);
  return typed;
}

template <class P, class Int>
requires std::is_integral_v<Int> TypedField<P> int_field(std::string id, std::string label,
                                                         std::string unit, Int P::*member,
                                                         std::int64_t min, std::int64_t max,
                                                         Axis axis, std::string meaning) {
  return {
      {std::move(id),
       std::move(label),
       std::move(unit),
       std::move(meaning),
       static_cast<std::int64_t>(P{}.*member),
       static_cast<double>(min),
       static_cast<double>(max),
       axis,
       {}},
      [member](P& p, const Value& v) { p.*member = static_cast<Int>(std::get<std::int64_t>(v)); }};
}

/// A number of tokens or keys, as a block or a stride; `short_value` as Field::for_short_head.
template <class P>
TypedField<P> size_field(std::string id, std::string label, std::string unit, Index P::*member,
                         std::int64_t min, std::int64_t max, std::string meaning,
                         std::function<Index(Index n)> short_value) {
  auto made = int_field<P, Index>(std::move(id), std::move(label), std::move(unit), member, min,
                                  max, Axis::log2, std::move(meaning));
  made.field.span = [](const Value& v) {
    return std::optional(static_cast<double>(std::get<std::int64_t>(v)));
  };
  made.field.for_short_head = [short_value = std::move(short_value)](Index n) {
    return Value(static_cast<std::int64_t>(short_value(n)));
  };
  return made;
}

template <class P>
TypedField<P> real_field(std::string id, std::string label, std::string unit, double P::*member,
                         double min, double max, Axis axis, std::string meaning) {
  return {{std::move(id),
           std::move(label),
           std::move(unit),
           std::move(meaning),
           P{}.*member,
           min,
           max,
           axis,
           {}},
          [member](P& p, const Value& v) { p.*member = std::get<double>(v); }};
}

template <class P, class Enum>
requires std::is_enum_v<Enum> TypedField<P> choice_field(std::string id, std::string label,
                                                         Enum P::*member,
                                                         std::vector<std::string> names,
                                                         std::string meaning) {
  auto index_of = [names](const std::string& name) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return static_cast<Enum>(i);
    return Enum{};
  };
  return {
      {std::move(id), std::move(label), "", std::move(meaning),
       names[static_cast<std::size_t>(P{}.*member)], 0, 0, Axis::linear, names},
      [member, index_of](P& p, const Value& v) { p.*member = index_of(std::get<std::string>(v)); }};
}

/// Any text; empty if none.
template <class P>
TypedField<P> text_field(std::string id, std::string label, std::string P::*member,
                         std::string meaning) {
  return {{std::move(id),
           std::move(label),
           "",
           std::move(meaning),
           P{}.*member,
           0,
           0,
           Axis::linear,
           {}},
          [member](P& p, const Value& v) { p.*member = std::get<std::string>(v); }};
}

template <class P>
TypedField<P> list_field(std::string id, std::string label, std::string unit,
                         std::vector<double> P::*member, double min, double max,
                         std::string meaning) {
  return {{std::move(id),
           std::move(label),
           std::move(unit),
           std::move(meaning),
           P{}.*member,
           min,
           max,
           Axis::linear,
           {}},
          [member](P& p, const Value& v) { p.*member = std::get<std::vector<double>>(v); }};
}

}  // namespace fovea
