// The tree that a Trainer learns for a head while the head is planned: `tree = learned`.
#pragma once

#include <string>
#include <vector>

#include "learning/trainer.h"
#include "variants/tree_builder.h"

namespace fovea {

/// What learning is for: TF-attention, or TC-attention with alpha learned or given.
struct LearningGoal {
  bool coarse = false;
  std::vector<float> alpha = {};  // of TC: [h + 1]; empty if learned
};

/// How the parameters of a variant say to learn, for a head.
LearningOptions learning_options(const TreeParameters& parameters, const LearningGoal& goal,
                                 std::uint64_t seed, Index head);

/// Learning for one head as the values of a variant say, to be done step by step.
struct Fit {
  TreeParameters parameters;  // `tree` is what learning begins with; learned: median
  TreeShape shape;
  LearningGoal goal;
};

/// Throws UsageError for a variant that has no tree to learn, naming those that have one, for more
/// leaves than a tree can learn, and for alpha of another length than h + 1.
Fit fit_of(const Variant& variant, const Values& values);

/// A Trainer for the head. Throws InputError where there is NaN or Inf.
Trainer make_trainer(const Fit& fit, const LearningOptions& options, const Problem& problem,
                     std::uint64_t seed, const Backend& backend, Run& run);

/// What a plan tells of a tree that was learned for a head of n tokens: in how many steps, and its
/// error on rows held out.
std::vector<std::string> learning_notes(const Trainer& trainer, Index n);

/// The best tree of `parameters.steps` steps from the median tree. A head with NaN or Inf has the
/// median tree, and a note that says so. Throws UsageError for more leaves than a tree can learn.
LearnedTree learn_tree(const Problem& problem, const TreeParameters& parameters,
                       const TreeShape& shape, const LearningGoal& goal, Planning& planning,
                       std::vector<std::string>& notes);

/// As many as the parameter `steps` can say.
inline constexpr Index most_learning_steps = 10000;

/// The steps of a variant's learned tree; nothing if its tree is not learned.
std::optional<Index> learned_steps(const Variant& variant, const Values& values);
/// The tensors of a learned tree in its plan, which a plan of the same head may be given. Empty if
/// the tree is not learned.
Structure learned_tensors(const Variant& variant, const Values& values, const Plan& plan);
/// From now on the tree is learned, in this number of steps. Only for a variant with a tree.
void set_learned(const Variant& variant, Values& values, Index steps);

}  // namespace fovea
