#include "variants/learned_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/error.h"
#include "data/number_text.h"
#include "data/text.h"

namespace fovea {
namespace {

/// "output error on held-out rows 0.54 (median tree: 0.97)".
std::string errors_text(const Trainer& trainer) {
  const double begun = trainer.start().measured.held_out_error,
               now = trainer.best().measured.held_out_error;
  if (std::isnan(now)) return "no row held out";
  return "output error on held-out rows " + format_number(now) +
         " (median tree: " + format_number(begun) + ")";
}

}  // namespace

LearningOptions learning_options(const TreeParameters& parameters, const LearningGoal& goal,
                                 std::uint64_t seed, Index head) {
  return {.coarse = goal.coarse,
          .alpha = goal.alpha,
          .cost = parameters.cost,
          .seed = seed,
          .head = head};
}

Fit fit_of(const Variant& variant, const Values& values) {
  if (variant.tree_attention == TreeAttention::none) {
    std::string known;
    for (const Variant& other : variants())
      if (other.tree_attention != TreeAttention::none) add_item(known, other.id, " or ");
    throw UsageError(variant.id + " has no tree to learn; expected " + known);
  }
  check_values(variant.schema, values);
  const auto value_of = [&](const std::string& id) {
    const auto field = std::ranges::find(variant.schema, id, &Field::id);
    return field == variant.schema.end()
               ? std::optional<Value>()
               : values[static_cast<std::size_t>(field - variant.schema.begin())];
  };
  Fit fit;
  for (const auto& field : tree_fields<TreeParameters>())
    if (const auto value = value_of(field.field.id)) field.write(fit.parameters, *value);
  fit.shape = tree_shape(fit.parameters);
  fit.goal.coarse = variant.tree_attention == TreeAttention::coarse;
  if (const auto alpha = value_of("alpha"); alpha && fit.goal.coarse)
    for (const double a : std::get<std::vector<double>>(*alpha))
      fit.goal.alpha.push_back(static_cast<float>(a));
  check_learnable(std::accumulate(fit.shape.branching.begin(), fit.shape.branching.end(), Index{1},
                                  std::multiplies<>()),
                  fit.shape.branching.size() + 1, fit.goal.alpha);
  return fit;
}

Trainer make_trainer(const Fit& fit, const LearningOptions& options, const Problem& problem,
                     std::uint64_t seed, const Backend& backend, Run& run) {
  const auto set =
      std::make_shared<const LearningSet>(make_learning_set(problem, seed, backend, run));
  Tree start = start_tree(fit.parameters.tree, problem, fit.shape, seed, backend, run);
  return Trainer(set, std::move(start), options, run);
}

std::vector<std::string> learning_notes(const Trainer& trainer, Index n) {
  std::vector<std::string> notes{"tree learned in " + plural(trainer.steps(), "step") + ": " +
                                 errors_text(trainer)};
  if (const std::string sample = sample_text(n); !sample.empty())
    notes.push_back("learned from and measured on " + sample);
  if (trainer.diverged())
    notes.push_back("learning diverged at step " + std::to_string(trainer.steps() + 1) +
                    ": the best tree of before");
  return notes;
}

LearnedTree learn_tree(const Problem& problem, const TreeParameters& parameters,
                       const TreeShape& shape, const LearningGoal& goal, Planning& planning,
                       std::vector<std::string>& notes) {
  if (const std::string why_not = why_not_learned_from(problem); !why_not.empty()) {
    notes.push_back("tree not learned, but median: " + why_not);
    return {.tree = median_tree(problem.k, shape, planning.backend, planning.run),
            .alpha = goal.alpha,
            .measured = {}};
  }
  Trainer trainer = make_trainer({.parameters = parameters, .shape = shape, .goal = goal},
                                 learning_options(parameters, goal, planning.seed, problem.head),
                                 problem, planning.seed, planning.backend, planning.run);
  trainer.learn(parameters.steps, planning.run, &planning.backend);
  for (std::string& note : learning_notes(trainer, problem.n())) notes.push_back(std::move(note));
  return trainer.best();
}

std::optional<Index> learned_steps(const Variant& variant, const Values& values) {
  if (variant.tree_attention == TreeAttention::none) return {};
  const auto at = [&](std::string_view id) -> const Value& {
    const auto field = std::ranges::find(variant.schema, id, &Field::id);
    return values[static_cast<std::size_t>(field - variant.schema.begin())];
  };
  if (to_text(at("tree")) != "learned") return {};
  return static_cast<Index>(std::get<std::int64_t>(at("steps")));
}

Structure learned_tensors(const Variant& variant, const Values& values, const Plan& plan) {
  Structure tensors;
  if (learned_steps(variant, values))
    for (const char* name : {"tree_weight", "tree_bias", "alpha"})
      if (const StructureTensor* tensor = plan.structure.find(name)) tensors.set(*tensor);
  return tensors;
}

void set_learned(const Variant& variant, Values& values, Index steps) {
  set_value(variant.schema, values, "tree", "learned");
  set_value(variant.schema, values, "steps", std::to_string(steps));
}

}  // namespace fovea
