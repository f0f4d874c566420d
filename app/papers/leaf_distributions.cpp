// How keys spread over the leaves of trees that learn, in several layers (Treeformer, Figure 4).
#include <algorithm>

#include "data/number_text.h"
#include "papers/learned_head.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

constexpr Index steps_between = 50;
constexpr Index most_layers = 3;
constexpr const char* variant_ids[] = {"tf", "tc"};

/// The first, the middle and the last layer.
std::vector<Index> layers_of(const Source& source) {
  const Index all = source.layers.size(), count = std::min(all, most_layers);
  std::vector<Index> layers;
  for (Index l = 0; l < count; ++l) layers.push_back(count > 1 ? l * (all - 1) / (count - 1) : 0);
  return layers;
}

LeafSnapshot snapshot_of(const LearnedTree& learned, const Problem& problem, const Backend& backend,
                         Run& run) {
  LeafSnapshot snapshot{.step = learned.step};
  for (const LeafCount& leaf : count_leaves(backend.route(problem.k, learned.tree, run), run))
    snapshot.keys.push_back(leaf.tokens);
  std::ranges::sort(snapshot.keys, std::greater());
  return snapshot;
}

LearningRecord learn(const Variant& variant, const Problem& problem, const PaperTask& task,
                     Run run) {
  Run quiet = run.quiet();
  Trainer trainer = trainer_of(variant, problem, 0, task.backend, quiet);
  LearningRecord record{.tokens = problem.n(),
                        .leaves = trainer.start().tree.leaves(),
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
  return record;
}

void add_numbers(const LearningRecord& record, const std::string& place, const std::string& id,
                 PaperResult& result) {
  const CurvePoint &first = record.curve.front(), &last = record.curve.back();
  const std::string begun = ", median tree", ended = ", after 300 steps",
                    leaves = place + ": effective leaves of the keys",
                    error = place + ": relative output error on held-out rows";
  result.numbers.push_back(
      {"effective_leaves_start_" + id, leaves + begun, {}, first.effective_leaves});
  result.numbers.push_back(
      {"effective_leaves_end_" + id, leaves + ended, {}, last.effective_leaves});
  result.numbers.push_back({"held_out_error_start_" + id, error + begun, {}, first.held_out_error});
  result.numbers.push_back({"held_out_error_end_" + id, error + ended, {}, last.held_out_error});
}

PaperResult leaves_while_learning(const PaperTask& task, Run& run) {
  const std::vector<Index> layers = layers_of(task.example);
  const double all = layers.size() * std::size(variant_ids);
  PaperResult result;
  double done = 0;
  Index n = 0;
  for (const char* id : variant_ids) {
    const Variant& variant = find_variant(id);
    result.rows.emplace_back();
    for (const Index layer : layers) {
      const Problem problem = shown_head(task.example, layer);
      const LearningRecord record =
          learn(variant, problem, task, run.part(done / all, (done + 1) / all));
      const std::string place = variant.label + ", " + layer_label(task.example, layer);
      add_numbers(record, place, std::string(id) + "_" + std::to_string(layer), result);
      Panel panel = std::move(make_panels(record).back());
      panel.title = place;
      std::get<CurvePlot>(panel.body).y_label = "keys of the leaf";
      result.rows.back().push_back(std::move(panel));
      n = problem.n();
      ++done;
    }
  }
  result.notes = {
      "One head of each of " + plural(layers.size(), "layer") + " of a trained encoder (head " +
          std::to_string(shown_head_index) + ", n = " + std::to_string(n) +
          "), height 6, learned alone for the outputs of exact attention, from a median tree, "
          "whose leaves are even. TC-attention learns the weights α of the depths, too. The paper "
          "trains the whole model, and draws its leaves without stating numbers.",
      "Panels draw the keys of each leaf, the fullest first; curves go from light to dark with "
      "the steps of learning."};
  return result;
}

}  // namespace

PaperFigure leaf_distribution_figure() {
  return {.id = "leaf-distributions",
          .paper = "Treeformer (Madaan et al. 2022), Figure 4",
          .title = "Leaves of trees while they learn",
          .sentence =
              "How keys spread over the leaves of trees that learn, TF and TC in several "
              "layers.",
          .make = leaves_while_learning};
}

}  // namespace fovea
