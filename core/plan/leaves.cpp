#include "plan/leaves.h"

namespace fovea {

std::optional<Leaves> leaves_of(const Plan& plan) {
  const auto& queries = plan.structure.integers(plan.groups.queries);
  const auto& keys = plan.structure.integers(plan.groups.keys);
  if (queries.empty() || keys.empty()) return std::nullopt;
  // The leaves of the first round, if there are more.
  return Leaves{plan.groups.kind, std::span(queries).first(plan.queries()),
                std::span(keys).first(plan.keys()), plan.groups.branching, plan.groups.count};
}

std::vector<Index> tokens_in(std::span<const std::int32_t> leaf_of, IndexRange leaves) {
  std::vector<Index> tokens;
  for (std::size_t i = 0; i < leaf_of.size(); ++i)
    if (leaves.contains(leaf_of[i])) tokens.push_back(i);
  return tokens;
}

}  // namespace fovea
