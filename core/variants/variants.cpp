// THE table of variants: adding one means one file and one row here.
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

Plan Variant::plan(const Problem& problem, const Values& values, Planning& planning) const {
  check_values(schema, values);
  planning.run.check();
  return planner(problem, values, planning);
}

}  // namespace fovea
