#include "session/session.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "data/shortened_text.h"

namespace fovea {
namespace {

/// A value of an enumeration with what files and menus call it.
template <class T>
struct Choice {
  T value;
  const char* name;
  const char* label;
};

constexpr Choice<Norm> norm_names[] = {{Norm::linear, "linear", "linear"},
                                       {Norm::log, "log", "logarithmic"},
                                       {Norm::row_max, "row-max", "per row maximum"}};
constexpr Choice<SpanChoice> span_choice_names[] = {
    {SpanChoice::parts, "parts", "sentences of the text"},
    {SpanChoice::sinks, "sinks", "sentences and sinks"},
    {SpanChoice::named, "named", "named by hand"}};

/// What files or menus call a value.
template <class T>
std::string word_for(T value, std::span<const Choice<T>> choices, const char* Choice<T>::*word) {
  const auto known = std::ranges::find(choices, value, &Choice<T>::value);
  return known == choices.end() ? "" : (*known).*word;
}

template <class T>
std::vector<T> values_of(std::span<const Choice<T>> choices) {
  std::vector<T> values;
  for (const Choice<T>& choice : choices) values.push_back(choice.value);
  return values;
}

template <class T>
std::optional<T> find_in(std::span<const Choice<T>> names, const std::string& text) {
  for (const Choice<T>& known : names)
    if (text == known.name) return known.value;
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> moved_column(const std::vector<Column>& from,
                                        const std::vector<Column>& to, std::size_t column) {
  if (column >= from.size()) return {};
  auto equal = std::count(from.begin(), from.begin() + std::ptrdiff_t(column), from[column]);
  for (std::size_t place = 0; place < to.size(); ++place)
    if (to[place] == from[column] && equal-- == 0) return place;
  return {};
}

std::vector<ColourRange> with_moved_columns(
    const std::vector<ColourRange>& ranges,
    const std::function<std::optional<std::size_t>(std::size_t column)>& place) {
  std::vector<ColourRange> moved;
  for (ColourRange range : ranges) {
    if (range.column >= 0) {
      const auto column = place(range.column);
      if (!column) continue;
      range.column = static_cast<int>(*column);
    }
    moved.push_back(range);
  }
  return moved;
}

const ColourRange* ViewSettings::range_of(View view, int column) const {
  const auto it = std::ranges::find_if(
      ranges, [&](const ColourRange& r) { return r.view == view && r.column == column; });
  return it == ranges.end() ? nullptr : &*it;
}

void ViewSettings::choose_range(const ColourRange& range) {
  reset_range(range.view, range.column);
  ranges.push_back(range);
}

void ViewSettings::reset_range(View view, int column) {
  std::erase_if(ranges, [&](const ColourRange& r) { return r.view == view && r.column == column; });
}

bool ViewSettings::hides(const std::string& name) const {
  return std::ranges::find(hidden, name) != hidden.end();
}

void ViewSettings::hide(const std::string& name, bool on) {
  std::erase(hidden, name);
  if (on) hidden.push_back(name);
}

std::vector<Norm> all_norms() {
  return values_of<Norm>(norm_names);
}

std::vector<SpanChoice> all_span_choices() {
  return values_of<SpanChoice>(span_choice_names);
}

std::string to_text(Norm norm) {
  return word_for<Norm>(norm, norm_names, &Choice<Norm>::name);
}
std::string to_text(SpanChoice choice) {
  return word_for<SpanChoice>(choice, span_choice_names, &Choice<SpanChoice>::name);
}
std::string label_of(Norm norm) {
  return word_for<Norm>(norm, norm_names, &Choice<Norm>::label);
}
std::string label_of(SpanChoice choice) {
  return word_for<SpanChoice>(choice, span_choice_names, &Choice<SpanChoice>::label);
}
std::optional<Norm> norm_from(const std::string& text) {
  return find_in<Norm>(norm_names, text);
}

ComputeRequest request_of(const Column& column) {
  return {.variant = &find_variant(column.variant), .values = column.values, .seed = column.seed};
}

Viewport whole(Lengths lengths) {
  return {0, static_cast<double>(lengths.queries), 0, static_cast<double>(lengths.keys)};
}

IndexRange visible_tokens(double begin, double end, Index n) {
  const IndexRange tokens{static_cast<Index>(std::clamp(std::floor(begin), 0.0, double(n))),
                          static_cast<Index>(std::clamp(std::ceil(end), 0.0, double(n)))};
  return tokens.size() > 0 ? tokens : IndexRange{0, n};
}

Values values_for_length(const Variant& variant, Index n) {
  Values values;
  for (const Field& field : variant.schema) values.push_back(value_for_length(field, n));
  return values;
}

Values values_for_length(const Variant& variant, Index n,
                         const std::map<std::string, std::string>& settings) {
  Values values = values_for_length(variant, n);
  for (const auto& [key, value] : settings) set_value(variant.schema, values, key, value);
  return values;
}

Column without_head(Column column) {
  column.held.reset();
  return column;
}

std::vector<int> continued_columns(const std::vector<Column>& before,
                                   const std::vector<Column>& after) {
  std::vector<int> from(after.size(), -1);
  std::vector<bool> taken(before.size(), false);
  const auto take = [&](std::size_t i, std::size_t k) {
    if (from[i] >= 0 || taken[k] || !(before[k] == after[i])) return;
    from[i] = static_cast<int>(k);
    taken[k] = true;
  };
  // Takes, among equal columns, first those that stay where they are.
  for (std::size_t i = 0; i < std::min(after.size(), before.size()); ++i) take(i, i);
  for (std::size_t i = 0; i < after.size(); ++i)
    for (std::size_t k = 0; k < before.size(); ++k) take(i, k);
  for (std::size_t i = 0; i < std::min(after.size(), before.size()); ++i)
    if (from[i] < 0 && !taken[i] && before[i].variant == after[i].variant)
      from[i] = static_cast<int>(i);
  return from;
}

std::string to_text(const Field& field, const Value& value) {
  const std::string text = to_text(value);
  return field.id + " " + (text.empty() ? "default" : text);
}

namespace {

/// Columns whose settings begin alike may have it in common.
std::string label_without_number(const std::vector<Column>& columns, std::size_t column) {
  const Column& its = columns[column];
  const Variant& variant = find_variant(its.variant);
  std::string label = variant.label;
  const auto any = [&](const auto& differs) {
    return std::ranges::any_of(columns, [&](const Column& other) {
      return other.variant == its.variant && differs(other);
    });
  };
  for (std::size_t f = 0; f < variant.schema.size(); ++f)
    if (any([&](const Column& other) { return other.values[f] != its.values[f]; }))
      label += ", " + shortened_text(to_text(variant.schema[f], its.values[f]));
  if (any([&](const Column& other) { return other.seed != its.seed; }))
    label += ", seed " + std::to_string(its.seed);
  return label;
}

}  // namespace

std::string label_of(const std::vector<Column>& columns, std::size_t column) {
  const std::string label = label_without_number(columns, column);
  int number = 1;
  for (std::size_t before = 0; before < column; ++before)
    number += columns[before].held == columns[column].held &&
              label_without_number(columns, before) == label;
  return number == 1 ? label : label + " (" + std::to_string(number) + ")";
}

}  // namespace fovea
