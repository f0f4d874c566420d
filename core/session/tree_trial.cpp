#include "session/tree_trial.h"

#include "analysis/metrics.h"
#include "variants/tree_tensors.h"

namespace fovea {

Structure tensors_of(const LearnedTree& learned) {
  Structure tensors;
  set_tree(tensors, learned.tree);
  if (!learned.alpha.empty()) tensors.set("alpha", learned.alpha);
  return tensors;
}

std::string why_not_tried_on(const Problem& problem, Index d) {
  if (!problem.has_values()) return no_values;
  if (problem.d() != d)
    return "queries and keys have " + std::to_string(problem.d()) + " features; expected " +
           std::to_string(d) + ", as where the tree is learned";
  return {};
}

TreeTrial::TreeTrial(Problem problem, ComputeRequest request, const Backend& backend, Run& run)
    : problem_(std::move(problem)),
      request_(std::move(request)),
      exact_(compute_exact(problem_, backend, run).output.z) {
  set_value(request_.variant->schema, request_.values, "tree", "median");
  median_ = tried({}, backend, run);
}

TriedTree TreeTrial::tried(Structure tree, const Backend& backend, Run& run) const {
  ComputeRequest request = request_;
  request.given = std::move(tree);
  const Computation its = compute(problem_, request, backend, run);
  return {.error = output_rel_fro(its.output.z, exact_).value(), .cost = its.cost.ratio_to_exact()};
}

}  // namespace fovea
