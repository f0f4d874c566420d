#include "cli/options/variant_options.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/error.h"
#include "data/text.h"
#include "report/text_table.h"

namespace fovea {
namespace {

std::pair<std::string, std::string> key_and_value(const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--set " + setting + "; expected KEY=VALUE");
  return {setting.substr(0, equals), setting.substr(equals + 1)};
}

/// CLI11 would read -1, and every number that is too large, as 2^64 - 1.
std::string check_seed(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size();
  return good ? std::string()
              : "'" + text + "' found; expected a whole number from 0 to 18446744073709551615";
}

bool is_group(const std::string& id) {
  return id == "all" || std::ranges::find(groups(), id, &GroupKind::id) != groups().end();
}

std::vector<const Variant*> variants_in(const std::string& group) {
  std::vector<const Variant*> found;
  for (const Variant& variant : variants())
    if (group == "all" || group == kind_of(variant.group).id) found.push_back(&variant);
  return found;
}

}  // namespace

bool has_parameter(const Variant& variant, const std::string& id) {
  return std::ranges::find(variant.schema, id, &Field::id) != variant.schema.end();
}

void add_columns(CLI::App& command, std::vector<std::string>& variants) {
  command
      .add_option("--variant", variants,
                  "A column, or " + words_for_groups() + "; may be repeated (default: papers)")
      ->allow_extra_args(false)
      ->type_name("ID");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Seed of every random choice")
      ->check(check_seed)
      ->capture_default_str();
}

void ParameterOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--set", settings,
          "A parameter of the variant (see fovea variants); may be repeated. Others are as in the "
          "window: the default, or what suits a head of fewer than 4096 tokens")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_seed(command, seed);
}

Values ParameterOptions::applied(const Variant& variant, Index n) const {
  return values_for_length(variant, n, by_key());
}

std::map<std::string, std::string> ParameterOptions::by_key() const {
  std::map<std::string, std::string> out;
  for (const auto& setting : settings) {
    const auto [key, value] = key_and_value(setting);
    out[key] = value;
  }
  return out;
}

void ParameterOptions::apply_to(std::vector<Column>& columns) const {
  for (const auto& setting : settings) {
    const auto [key, value] = key_and_value(setting);
    bool known = false;
    for (Column& column : columns) {
      const Variant& variant = find_variant(column.variant);
      if (!has_parameter(variant, key)) continue;
      set_value(variant.schema, column.values, key, value);
      known = true;
    }
    if (!known)
      throw UsageError("--set " + setting + ": none of the variants has a parameter '" + key + "'");
  }
}

std::vector<Values> ParameterOptions::applied(const std::vector<const Variant*>& chosen,
                                              Index n) const {
  std::vector<Column> columns;
  for (const Variant* variant : chosen)
    columns.push_back({variant->id, values_for_length(*variant, n), seed});
  apply_to(columns);
  std::vector<Values> values;
  for (Column& column : columns) values.push_back(std::move(column.values));
  return values;
}

std::vector<const Variant*> variants_named(const std::vector<std::string>& ids,
                                           const Problem* head) {
  std::vector<const Variant*> chosen;
  const auto add = [&](const Variant& variant) {
    if (std::ranges::find(chosen, &variant) == chosen.end()) chosen.push_back(&variant);
  };
  for (const auto& id : ids) {
    if (!is_group(id)) {
      add(find_variant(id));
      continue;
    }
    for (const Variant* variant : variants_in(id))
      if (!head || variant->refusal(*head).empty()) add(*variant);
  }
  return chosen;
}

void refuse_imported(const std::vector<const Variant*>& variants) {
  for (const Variant* variant : variants)
    if (variant->imported)
      throw UsageError("--variant " + variant->id +
                       ": what another program computed is read, not computed; expected variants "
                       "that are. `fovea compute` compares it with exact attention");
}

void tell_left_out(const std::vector<std::string>& ids, const Problem& head, std::ostream& out) {
  const auto chosen = variants_named(ids, &head);
  std::string not_causal, only_causal, of_softmax, of_tokens;
  for (const Variant* variant : variants_named(ids)) {
    if (std::ranges::find(chosen, variant) != chosen.end()) continue;
    if (head.recurrence)
      add_item(of_softmax, variant->id);
    else if (head.compressed && !variant->any_keys)
      add_item(of_tokens, variant->id);
    else if (head.causal && !variant->has_causal_form())
      add_item(not_causal, variant->id);
    else if (!head.causal && !variant->has_bidirectional_form())
      add_item(only_causal, variant->id);
    else
      print_note(out, "left out: " + variant->refusal(head));
  }
  const auto tell = [&](const std::string& why, const std::string& which) {
    if (!which.empty()) print_note(out, "left out, as they " + why + ": " + which);
  };
  tell("have no causal form", not_causal);
  tell("have no form without a causal mask", only_causal);
  tell("take all keys for the tokens of a sequence", of_tokens);
  tell("replace softmax attention, and the head is a recurrence", of_softmax);
}

}  // namespace fovea
