#include "session/settings.h"

#include <algorithm>
#include <numeric>

#include "data/text.h"

namespace fovea {
namespace {

/// For each field: the value for the length first, then the others worth trying.
std::vector<std::vector<Value>> choices_of(const Variant& variant, Index n) {
  std::vector<std::vector<Value>> all;
  for (const Field& field : variant.schema) {
    std::vector<Value>& choices = all.emplace_back();
    choices.push_back(value_for_length(field, n));
    if (!field.worth_trying) continue;
    for (Value& value : field.worth_trying(n))
      if (std::ranges::find(choices, value) == choices.end()) choices.push_back(std::move(value));
  }
  return all;
}

/// Calls take(places) for places in the lists whose sum is `sum`, in lexical order, until it
/// returns false.
template <class Take>
bool for_places(const std::vector<std::vector<Value>>& choices, std::vector<std::size_t>& places,
                std::size_t field, std::size_t sum, Take take) {
  if (field == choices.size()) return sum > 0 || take(places);
  for (std::size_t place = std::min(sum, choices[field].size() - 1) + 1; place-- > 0;) {
    places[field] = place;
    if (!for_places(choices, places, field + 1, sum - place, take)) return false;
  }
  return true;
}

}  // namespace

std::vector<Values> settings_worth_trying(const Variant& variant, Index n, std::size_t most) {
  const auto choices = choices_of(variant, n);
  std::vector<Values> settings;
  std::size_t finest = 0;
  for (const auto& of_field : choices) finest += of_field.size() - 1;
  std::vector<std::size_t> places(choices.size());
  for (std::size_t sum = 0; sum <= finest; ++sum)
    if (!for_places(choices, places, 0, sum, [&](const std::vector<std::size_t>& at) {
          if (settings.size() >= most) return false;
          Values values;
          for (std::size_t f = 0; f < at.size(); ++f) values.push_back(choices[f][at[f]]);
          const bool first = sum == 0;
          if (first || !variant.is_exact || !variant.is_exact(values, n))
            settings.push_back(std::move(values));
          return true;
        }))
      break;
  return settings;
}

std::string setting_text(const Variant& variant, const Values& values, Index n) {
  const auto choices = choices_of(variant, n);
  std::string told, all;
  for (std::size_t f = 0; f < values.size(); ++f) {
    const std::string value = to_text(values[f]);
    const std::string text = variant.schema[f].id + " " + (value.empty() ? "default" : value);
    add_item(all, text);
    if (choices[f].size() > 1 || values[f] != choices[f].front()) add_item(told, text);
  }
  return told.empty() ? all : told;
}

std::string assignments_text(const Variant& variant, const Values& values) {
  std::string text;
  for (std::size_t f = 0; f < values.size(); ++f)
    text += (f > 0 ? " " : "") + variant.schema[f].id + "=" + to_text(values[f]);
  return text;
}

}  // namespace fovea
