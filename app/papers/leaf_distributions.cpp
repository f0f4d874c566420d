// How keys spread over the leaves of a tree while it learns (Treeformer, Figure 4).
#include <algorithm>

#include "data/number_text.h"
#include "learning/trainer.h"
#include "panels/learning_panels.h"
#include "papers/paper_figure.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

constexpr Index all_steps = 300, steps_between = 50;
constexpr Index shown_layer = 1, shown_head = 1;  // of the bundled encoder; 0 where there are fewer

LeafSnapshot snapshot_of(const LearnedTree& learned, const Problem& problem, const Backend& backend,
                         Run& run) {
  LeafSnapshot snapshot{.step = learned.step};
  for (const LeafCount& leaf : count_leaves(backend.route(problem.k, learned.tree, run), run))
    snapshot.keys.push_back(leaf.tokens);
  std::ranges::sort(snapshot.keys, std::greater());
  return snapshot;
}

PaperResult leaves_while_learning(const PaperTask& task, Run& run) {
  const auto layers = static_cast<Index>(task.example.layers.size());
  const HeadChoice choice{
      .layer = std::min(shown_layer, layers - 1),
      .head = std::min(
          shown_head,
          task.example.layers[static_cast<std::size_t>(std::min(shown_layer, layers - 1))].heads() -
              1)};
  const Problem problem = problem_of(task.example, choice);
  const Variant& variant = find_variant("tf");
  const Fit fit = fit_of(variant, defaults(variant.schema));
  const LearningOptions options = learning_options(fit.parameters, fit.goal, 0, problem.head);
  Run quiet = run.quiet();
  Trainer trainer = make_trainer(fit, options, problem, 0, task.backend, quiet);
  LearningRecord record{.tokens = problem.n(),
                        .leaves = trainer.start().tree.leaves(),
                        .cost_limit = options.cost,
                        .start = trainer.start().measured,
                        .curve = {},
                        .snapshots = {}};
  for (Index done = 0;; done += steps_between) {
    trainer.learn(done, quiet, &task.backend);
    record.add(snapshot_of(trainer.current(quiet), problem, task.backend, quiet));
    run.reached(double(done) / double(all_steps));
    if (done >= all_steps) break;
  }
  record.curve = trainer.curve();
  const CurvePoint &first = record.curve.front(), &last = record.curve.back();
  PaperResult result;
  result.numbers = {{"effective_leaves_start",
                     "Effective leaves of the keys, median tree",
                     {},
                     first.effective_leaves},
                    {"effective_leaves_end",
                     "Effective leaves of the keys, after 300 steps",
                     {},
                     last.effective_leaves},
                    {"held_out_error_start",
                     "Relative output error on held-out rows, median tree",
                     {},
                     first.held_out_error},
                    {"held_out_error_end",
                     "Relative output error on held-out rows, after 300 steps",
                     {},
                     last.held_out_error}};
  result.notes = {
      "One TF-attention head of a trained encoder (" + layer_label(task.example, choice.layer) +
          ", head " + std::to_string(choice.head) + ", n = " + std::to_string(problem.n()) +
          "), height 6, learned alone for the outputs of exact "
          "attention, from a median tree, whose leaves are even. The paper trains the whole model, "
          "and draws its leaves without stating numbers.",
      "Curves go from light to dark with the steps of learning."};
  result.rows.emplace_back();
  for (Panel& panel : make_panels(record)) result.rows.front().push_back(std::move(panel));
  return result;
}

}  // namespace

PaperFigure leaf_distribution_figure() {
  return {.id = "leaf-distributions",
          .paper = "Treeformer (Madaan et al. 2022), Figure 4",
          .title = "Leaves of a tree while it learns",
          .sentence = "How the keys of a head spread over the leaves of a tree that learns.",
          .make = leaves_while_learning};
}

}  // namespace fovea
