#include "batch/batch_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "backend/backends.h"
#include "data/error.h"
#include "io/file_bytes.h"
#include "session/session.h"

namespace fovea {
namespace {

constexpr std::size_t most_settings = 1000000;  // of a variant
constexpr std::size_t most_rounds = 1000;
constexpr int most_threads = 1024;

/// A value of the document and where it is: "variants[1].set.block".
struct Place {
  const std::string& file;
  std::string name;
  const Json& value;

  [[noreturn]] void refuse(const std::string& expected) const {
    throw InputError(file, name + " is " + excerpt(value) + "; expected " + expected);
  }
  Place at(const std::string& key) const {
    return {file, name.empty() ? key : name + "." + key, value.at(key)};
  }
  Place at(std::size_t index) const {
    return {file, name + "[" + std::to_string(index) + "]", value.at(index)};
  }
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void require_keys(const Place& place, const std::vector<std::string>& known) {
  if (!place.value.is_object()) place.refuse("an object with the keys " + joined(known));
  for (const auto& [key, value] : place.value.items())
    if (std::ranges::find(known, key) == known.end())
      throw InputError(place.file, (place.name.empty() ? "" : place.name + ": ") + "unknown key " +
                                       fovea::quoted(key) + "; expected one of " + joined(known));
}

/// The entries of a list that is not empty and has no entry twice.
template <class T>
std::vector<T> list_of(const Place& place, const std::string& expected,
                       const std::function<T(const Place&)>& entry) {
  if (!place.value.is_array() || place.value.empty()) place.refuse(expected);
  std::vector<T> list;
  std::set<T> seen;
  for (std::size_t i = 0; i < place.value.size(); ++i) {
    const Place at = place.at(i);
    list.push_back(entry(at));
    if (!seen.insert(list.back()).second)
      throw InputError(place.file, at.name + " is " + excerpt(at.value) +
                                       ", which is in the list already; expected it once");
  }
  return list;
}

template <class Number>
Number whole_number(const Place& place, std::uint64_t most, const std::string& expected) {
  if (!place.value.is_number_unsigned() || place.value.get<std::uint64_t>() > most)
    place.refuse(expected);
  return static_cast<Number>(place.value.get<std::uint64_t>());
}

std::string text_in(const Place& place, const std::string& expected) {
  if (!place.value.is_string() || place.value.get_ref<const std::string&>().empty())
    place.refuse(expected);
  return place.value.get<std::string>();
}

bool truth(const Place& place) {
  if (!place.value.is_boolean()) place.refuse("true or false");
  return place.value.get<bool>();
}

std::string layer_text(const Place& place) {
  if (place.value.is_number_unsigned()) return place.value.dump();
  return text_in(place, "a layer, by name or counted from 0");
}

/// Whether it is the word "all"; any other text is refused.
bool is_all(const Place& place, const std::string& expected) {
  if (!place.value.is_string()) return false;
  if (place.value != "all") place.refuse(expected);
  return true;
}

/// A value as `--set` takes it: 64, 0.5, "nested", [1, 0.5].
std::string value_text(const Place& place) {
  const Json& value = place.value;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  if (!value.is_array()) place.refuse("a number or a text");
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Place at = place.at(i);
    if (!at.value.is_number()) at.refuse("a number");
    text += (i > 0 ? "," : "") + at.value.dump();
  }
  return text;
}

std::string checked_value(const Place& place, const Variant& variant, const std::string& id) {
  std::string text = value_text(place);
  Values values = defaults(variant.schema);
  try {
    set_value(variant.schema, values, id, text);
  } catch (const UsageError& error) {
    throw InputError(place.file, place.name + ": " + error.what());
  }
  return text;
}

std::vector<std::string> values_of(const Place& place, const Variant& variant,
                                   const std::string& id) {
  if (!place.value.is_array()) return {checked_value(place, variant, id)};
  return list_of<std::string>(place, "a value or a list of values", [&](const Place& entry) {
    return checked_value(entry, variant, id);
  });
}

std::vector<PlannedVariant> group_named(const std::string& name) {
  std::vector<PlannedVariant> found;
  for (const Variant& variant : variants())
    if (name == "all" || name == kind_of(variant.group).id)
      found.push_back({.variant = &variant, .of_group = true});
  return found;
}

const Variant& variant_at(const Place& place) {
  const std::string id = text_in(place, "the id of a variant");
  try {
    return find_variant(id);
  } catch (const UsageError& error) {
    throw InputError(place.file, place.name + ": " + error.what());
  }
}

PlannedVariant variant_with_values(const Place& place) {
  require_keys(place, {"variant", "set"});
  if (!place.value.contains("variant"))
    throw InputError(place.file, place.name + " has no key \"variant\"; expected one");
  PlannedVariant planned{.variant = &variant_at(place.at("variant"))};
  if (!place.value.contains("set")) return planned;
  const Place set = place.at("set");
  std::vector<std::string> known;
  for (const Field& field : planned.variant->schema) known.push_back(field.id);
  if (known.empty() && !set.value.empty())
    throw InputError(place.file, set.name + ": " + planned.variant->id + " has no parameters");
  if (!known.empty()) require_keys(set, known);
  std::size_t settings = 1;
  for (const auto& [id, value] : set.value.items()) {
    planned.set.emplace_back(id, values_of(set.at(id), *planned.variant, id));
    settings *= planned.set.back().second.size();
    if (settings > most_settings)
      throw InputError(place.file, set.name + " has more than " + std::to_string(most_settings) +
                                       " combinations of values; expected fewer");
  }
  return planned;
}

std::vector<PlannedVariant> variants_in(const Place& list) {
  const std::string expected =
      "a list of ids, " + words_for_groups() + ", or {\"variant\": ID, \"set\": {...}}";
  if (!list.value.is_array() || list.value.empty()) list.refuse(expected);
  std::vector<PlannedVariant> planned;
  for (std::size_t i = 0; i < list.value.size(); ++i) {
    const Place place = list.at(i);
    if (place.value.is_object()) {
      planned.push_back(variant_with_values(place));
      continue;
    }
    const auto group = group_named(text_in(place, expected));
    planned.insert(planned.end(), group.begin(), group.end());
    if (group.empty()) planned.push_back({.variant = &variant_at(place)});
  }
  return planned;
}

std::string one_of(const Place& place, const std::vector<std::string>& names) {
  if (!place.value.is_string() ||
      std::ranges::find(names, place.value.get<std::string>()) == names.end())
    place.refuse("one of " + joined(names));
  return place.value.get<std::string>();
}

using Reader = std::function<void(BatchPlan&, const Place&)>;

const std::vector<std::pair<std::string, Reader>>& readers() {
  static const std::vector<std::pair<std::string, Reader>> table{
      {"sources",
       [](BatchPlan& plan, const Place& place) {
         plan.sources = list_of<std::string>(
             place, "a list of paths or synthetic: sources",
             [](const Place& at) { return text_in(at, "a path or a synthetic: source"); });
       }},
      {"layers",
       [](BatchPlan& plan, const Place& place) {
         const std::string expected = "\"all\" or a list of layers";
         if (!is_all(place, expected))
           plan.layers = list_of<std::string>(place, expected, layer_text);
       }},
      {"heads",
       [](BatchPlan& plan, const Place& place) {
         const std::string expected = "\"all\" or a list of heads";
         if (!is_all(place, expected))
           plan.heads = list_of<Index>(place, expected, [](const Place& at) {
             return whole_number<Index>(at, INT32_MAX, "a head, counted from 0");
           });
       }},
      {"variants", [](BatchPlan& plan, const Place& place) { plan.variants = variants_in(place); }},
      {"seeds",
       [](BatchPlan& plan, const Place& place) {
         plan.seeds = list_of<std::uint64_t>(place, "a list of whole numbers", [](const Place& at) {
           return whole_number<std::uint64_t>(at, UINT64_MAX, "a whole number from 0");
         });
       }},
      {"causal",
       [](BatchPlan& plan, const Place& place) {
         if (!place.value.is_null() && !place.value.is_boolean())
           place.refuse("true, false, or null: as the source says");
         if (place.value.is_boolean()) plan.causal = place.value.get<bool>();
       }},
      {"backend",
       [](BatchPlan& plan, const Place& place) {
         plan.backend.backend = one_of(place, backend_choices());
       }},
      {"precision",
       [](BatchPlan& plan, const Place& place) {
         plan.backend.precision = one_of(place, precision_choices());
       }},
      {"threads",
       [](BatchPlan& plan, const Place& place) {
         plan.backend.threads =
             whole_number<int>(place, most_threads, "0 (one for each core) to 1024");
       }},
      {"rounds",
       [](BatchPlan& plan, const Place& place) {
         plan.rounds =
             whole_number<std::size_t>(place, most_rounds, "0 (no times are measured) to 1000");
       }},
      {"metrics", [](BatchPlan& plan, const Place& place) { plan.metrics = truth(place); }},
  };
  return table;
}

}  // namespace

BatchPlan batch_plan_from(const std::string& path, const Json& document) {
  BatchPlan plan{.path = path};
  const Place whole{path, "", document};
  std::vector<std::string> known;
  for (const auto& [key, read] : readers()) known.push_back(key);
  if (!document.is_object())
    throw InputError(
        path, "is " + kind_of(document) + "; expected an object with the keys " + joined(known));
  require_keys(whole, known);
  for (const char* needed : {"sources", "variants"})
    if (!document.contains(needed))
      throw InputError(path, "has no key \"" + std::string(needed) + "\"; expected one");
  for (const auto& [key, read] : readers())
    if (document.contains(key)) read(plan, whole.at(key));
  return plan;
}

BatchPlan read_batch_plan(const std::string& path) {
  return batch_plan_from(path, parse_json(path, FileBytes(path).text()));
}

std::vector<Values> crossed_settings(const PlannedVariant& planned, Index n) {
  std::vector<Values> settings{values_for_length(*planned.variant, n)};
  for (const auto& [id, texts] : planned.set) {
    std::vector<Values> crossed;
    for (const Values& before : settings)
      for (const std::string& text : texts)
        set_value(planned.variant->schema, crossed.emplace_back(before), id, text);
    settings = std::move(crossed);
  }
  return settings;
}

}  // namespace fovea
