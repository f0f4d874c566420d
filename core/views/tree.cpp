// The leaves of a tree, or the buckets of a hash.
#include <span>

#include "analysis/leaf_skew.h"
#include "plan/leaves.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

/// A panel holds at most this many sizes, as many as a tree can have leaves. If a hash has more
/// buckets, nearly all are empty, and adjacent ones are shown together.
constexpr Index most_sizes = Index{1} << 20;

std::vector<Index> sizes_of(std::span<const std::int32_t> leaf_of_token, const LeafSizes& sizes,
                            Index count, Run& run) {
  std::vector<Index> out((count - 1) / sizes.together + 1);
  for (const LeafCount& leaf : count_leaves(leaf_of_token, run))
    out[leaf.leaf / sizes.together] += leaf.tokens;
  return out;
}

Body tree(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Plan& plan = in.computation.op->plan();
  const auto leaves = leaves_of(plan);
  if (!leaves)
    return Message{plan.notes.empty() ? "neither a tree nor buckets" : plan.notes.front()};
  LeafSizes sizes{.kind = leaves->kind, .branching = leaves->branching};
  while (leaves->count / sizes.together > most_sizes) sizes.together *= 2;
  sizes.queries = sizes_of(leaves->queries, sizes, leaves->count, run);
  sizes.keys = sizes_of(leaves->keys, sizes, leaves->count, run);
  if (plan.fitted_to_all_tokens && in.computation.op->problem().is_causal())
    add(caption, "built from all tokens, also from those after a query");
  if (sizes.together > 1)
    add(caption,
        "each bar: " + std::to_string(sizes.together) + " adjacent " + plural_of(sizes.kind));
  sizes.figures = skew_diagnostics(leaf_skew(plan, *leaves, run), sizes.kind);
  return sizes;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind tree_view() {
  return {.id = "tree",
          .label = "Tree",
          .meaning = "How queries and keys spread over the leaves of a tree, or over buckets.",
          .make = views::tree,
          .shows_plan_only = true,
          .aspect = 0.72};
}

}  // namespace fovea
