#include "study/tree_learning.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "session/tree_trial.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

/// The pieces do not change the tree: a Trainer measures at multiples of this.
constexpr Index steps_of_a_piece = LearningOptions{}.measured_every;

}  // namespace

bool learns_tree(const Column& column) {
  return learned_steps(find_variant(column.variant), column.values).has_value();
}

TreeLearning::TreeLearning(std::shared_ptr<const Problem> problem, Column column)
    : problem_(std::move(problem)),
      column_(std::move(column)),
      steps_(learned_steps(find_variant(column_.variant), column_.values).value_or(0)) {}

void TreeLearning::begin(const Backend& backend, Run& run) {
  const Fit fit = fit_of(find_variant(column_.variant), column_.values);
  const LearningOptions options =
      learning_options(fit.parameters, fit.goal, column_.seed, problem_->head);
  Run quiet = run.quiet();
  trainer_ = std::make_unique<Trainer>(
      make_trainer(fit, options, *problem_, column_.seed, backend, quiet));
}

bool TreeLearning::advance(const Backend& backend, Run& run) {
  if (!why_not_learned_from(*problem_).empty()) {
    compute_column(backend, run);
    return false;
  }
  const auto start = Clock::now();
  if (!trainer_) begin(backend, run);
  if (trainer_->steps() >= steps_ || trainer_->diverged()) {
    compute_column(backend, run);
    return false;
  }
  Run quiet = run.quiet();
  const Index next = trainer_->steps() - trainer_->steps() % steps_of_a_piece + steps_of_a_piece;
  trainer_->learn(std::min(next, steps_), quiet, &backend);
  spent_ms_ += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  run.reached(static_cast<double>(trainer_->steps()) / static_cast<double>(steps_));
  return true;
}

void TreeLearning::compute_column(const Backend& backend, Run& run) {
  ComputeRequest request = request_of(column_);
  if (trainer_) {
    request.given = tensors_of(trainer_->best());
    request.notes = learning_notes(*trainer_, problem_->n());
  }
  auto computation = std::make_shared<Computation>(compute(*problem_, request, backend, run));
  if (trainer_) computation->first_run.learning.add("tree", spent_ms_);
  result_ = std::move(computation);
}

}  // namespace fovea
