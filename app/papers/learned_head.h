// The head of a layer for which the papers' items learn trees, and its trainer.
#pragma once

#include <algorithm>

#include "panels/learning_panels.h"
#include "papers/paper_figure.h"
#include "variants/learned_tree.h"

namespace fovea {

inline constexpr Index shown_head_index = 1;  // 0 if a layer has one head
inline constexpr Index all_steps = 300;       // of learning

inline Problem shown_head(const Source& source, Index layer) {
  const Index heads = source.layers[layer].heads();
  return problem_of(source, {.layer = layer, .head = std::min(shown_head_index, heads - 1)});
}

/// A trainer that begins with the median tree and the variant's defaults, with `bootstrap` steps at
/// each smaller height.
inline Trainer trainer_of(const Variant& variant, const Problem& problem, Index bootstrap,
                          const Backend& backend, Run& run) {
  const Fit fit = fit_of(variant, defaults(variant.schema));
  LearningOptions options = learning_options(fit.parameters, fit.goal, 0, problem.head);
  options.bootstrap = bootstrap;
  return make_trainer(fit, options, problem, 0, backend, run);
}

}  // namespace fovea
