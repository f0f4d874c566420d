#include "cli/options/head_options.h"

#include <algorithm>

#include "cli/options/whole_numbers.h"
#include "data/error.h"
#include "data/text.h"
#include "data/utf8.h"
#include "report/text_table.h"

namespace fovea {
namespace {

/// "layer2" and "encoder.2.self" have the number 2, "layer12" has not.
bool has_number(const std::string& name, std::int64_t number) {
  constexpr const char* digits = "0123456789";
  std::size_t end = 0;
  for (std::size_t at = name.find_first_of(digits); at != name.npos;
       at = name.find_first_of(digits, end)) {
    end = std::min(name.find_first_not_of(digits, at), name.size());
    if (whole_number_from(name.substr(at, end - at)) == number) return true;
  }
  return false;
}

template <class T>
std::string with_default(const Condition<T>& condition) {
  return std::string(condition.meaning) + " (default: what the source says, else " +
         condition.otherwise + ")";
}

void add_condition(CLI::App& command, const Condition<bool>& condition, HeadConditions& to) {
  const std::string id = condition.id;
  std::optional<bool>& value = to.*condition.member;
  auto* on = command.add_flag_callback(
      "--" + id, [&value] { value = true; }, with_default(condition));
  command
      .add_flag_callback(
          "--no-" + id, [&value] { value = false; }, "Each query sees all keys")
      ->excludes(on);
}

template <class T>
void add_condition(CLI::App& command, const Condition<T>& condition, HeadConditions& to) {
  command
      .add_option(std::string("--") + condition.id, to.*condition.member, with_default(condition))
      ->check([&condition](const std::string& text) {
        T value = {};
        const bool good = CLI::detail::lexical_cast(text, value) && condition.allows(value);
        return good ? std::string() : "'" + text + "' found; expected " + condition.expected;
      });
}

}  // namespace

void HeadOptions::add_to(CLI::App& command, const std::string& standard, bool all) {
  head = standard;
  all_allowed_ = all;
  command.add_option("--layer", layer, "Layer, by name or counted from 0")->capture_default_str();
  command.add_option("--head", head, all ? "Head, counted from 0, or all" : "Head, counted from 0")
      ->capture_default_str();
  for_conditions([&](const auto& condition) { add_condition(command, condition, conditions); });
  command.add_flag(
      "--allow-non-finite", allow_non_finite,
      "Compute even if the input holds NaN, Inf or numbers beyond 1e14: all of them count as NaN");
}

void HeadOptions::add_all_to(CLI::App& command, const std::string& standard_layer) {
  layer = standard_layer;
  add_to(command, "all", true);
  command.get_option("--layer")->description("Layer, by name or counted from 0, or all");
}

std::vector<Index> HeadOptions::layers_in(const Source& source) const {
  if (layer != "all") return {layer_in(source)};
  std::vector<Index> layers;
  for (std::size_t l = 0; l < source.layers.size(); ++l) layers.push_back(l);
  return layers;
}

Index HeadOptions::layer_in(const Source& source) const {
  if (layer_index) return *layer_index;
  std::string names;
  for (std::size_t l = 0; l < source.layers.size(); ++l) {
    if (!source.layers[l].name.empty() && source.layers[l].name == layer) return l;
    add_item(names, source.layers[l].name);
  }
  const auto count = static_cast<Index>(source.layers.size());
  const auto index = whole_number_from(layer);
  if (index && *index >= 0 && *index < count) return *index;
  throw UsageError("--layer " + layer + "; expected 0 to " + std::to_string(count - 1) +
                   (names.empty() ? "" : ", or one of " + names));
}

void HeadOptions::tell_layer(const Source& source, std::ostream& err) const {
  const auto number = whole_number_from(layer);
  if (layer_index || !number) return;
  const auto chosen = static_cast<std::size_t>(layer_in(source));
  if (has_number(source.layers[chosen].name, *number)) return;
  std::string others;
  for (std::size_t l = 0; l < source.layers.size(); ++l)
    if (const std::string& name = source.layers[l].name; has_number(name, *number))
      add_item(others, "the one named " + printable(name) + " is number " + std::to_string(l));
  if (!others.empty())
    print_note(err, "layer " + layer + " is " + printable(layer_label(source, chosen)) + " (" +
                        others + ")");
}

std::vector<Index> HeadOptions::heads_in(const Source& source) const {
  return heads_of(source, layer_in(source));
}

std::vector<Index> HeadOptions::heads_of(const Source& source, Index of_layer) const {
  const Index count = source.layers[of_layer].heads();
  std::vector<Index> heads;
  if (head == "all" && all_allowed_) {
    for (Index h = 0; h < count; ++h) heads.push_back(h);
    return heads;
  }
  const auto index = whole_number_from(head);
  if (!index || *index < 0 || *index >= count)
    throw UsageError("--head " + head + "; expected 0 to " + std::to_string(count - 1));
  return {*index};
}

Problem HeadOptions::problem(const Source& source, Index head_index,
                             const std::stop_token& stop) const {
  return problem(source, layer_in(source), head_index, stop);
}

Problem HeadOptions::problem(const Source& source, Index of_layer, Index head_index,
                             const std::stop_token& stop) const {
  const HeadChoice choice{.layer = of_layer,
                          .head = head_index,
                          .conditions = conditions,
                          .allow_non_finite = allow_non_finite};
  return problem_of(source, choice, stop);
}

}  // namespace fovea
