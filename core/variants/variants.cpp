// THE table of variants: adding one means one file and one row here.
#include <algorithm>
#include <array>

#include "data/error.h"
#include "variants/variant.h"

namespace fovea {

std::span<const Variant> variants() {
  static const std::array table{exact_variant(), h1d_variant(), fixed_variant(), strided_variant(),
                                tf_variant(),    tc_variant(),  hyper_variant()};
  return table;
}

const Variant& find_variant(std::string_view id) {
  std::string known;
  for (const auto& variant : variants()) {
    if (variant.id == id) return variant;
    known += (known.empty() ? "" : ", ") + variant.id;
  }
  throw UsageError("unknown variant '" + std::string(id) + "': one of " + known + " expected");
}

namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Names of what is given and not taken.
std::vector<std::string> left_over(const Variant& variant, const Structure& given) {
  std::vector<std::string> names = member_names(given);
  const bool any = !names.empty();
  const auto taken = [&](const std::string& name) {
    return std::ranges::find(variant.takes, name) != variant.takes.end();
  };
  if (any && std::ranges::none_of(names, taken))
    throw InputError("given structure",
                     "holds " + list_of(names) + ": " +
                         (variant.takes.empty() ? variant.label + " has none that could be given"
                                                : "one of " + list_of(variant.takes) +
                                                      " expected by " + variant.label));
  std::erase_if(names, taken);
  return names;
}

}  // namespace

Plan Variant::plan(const Problem& problem, const Values& values, Planning& planning) const {
  check_values(schema, values);
  planning.run.check();
  const std::vector<std::string> unused = left_over(*this, planning.given);
  Plan plan = planner(problem, values, planning);
  if (!unused.empty())
    plan.notes.push_back("given, but not used by " + label + ": " + list_of(unused));
  return plan;
}

}  // namespace fovea
