// Treeformer's Lemma 1: the tree T_0 with which TF-attention is exact attention.
#include <algorithm>

#include "analysis/metrics.h"
#include "input/assets.h"
#include "papers/paper_figure.h"
#include "papers/request.h"
#include "views/views.h"

namespace fovea {
namespace {

ComputeRequest with_tree(const char* tree) {
  return request_of("tf", {{"tree", tree}});
}

/// The greatest and least output error over all heads of the example.
struct Errors {
  double least = 0, most = 0;
};

Errors errors_of(std::vector<double> errors) {
  const auto [least, most] = std::ranges::minmax_element(errors);
  return {*least, *most};
}

Panel heatmap_of(const Computation& computation, const Computation& exact, const PaperTask& task,
                 std::string title, Run& run) {
  const IndexRange all{0, exact.op->plan().queries()};
  Panel panel = make_panel(weights_view(),
                           {.computation = computation,
                            .exact = exact,
                            .backend = task.backend,
                            .sequence = task.example.sequence,
                            .settings = {},
                            .rows = all,
                            .cols = all},
                           run);
  panel.title = std::move(title);
  panel.subtitle.clear();
  return panel;
}

PaperResult exact_with_one_leaf(const PaperTask& task, Run& run) {
  const Session shown = first_session(task.example);
  PaperResult result;
  std::vector<double> single_errors, median_errors;
  double chi = 0;
  const auto layers = static_cast<Index>(task.example.layers.size());
  for (Index layer = 0; layer < layers; ++layer) {
    for (Index head = 0; head < task.example.layers[layer].heads(); ++head) {
      run.check();
      const Problem problem = problem_of(task.example, {.layer = layer, .head = head});
      Run quiet = run.quiet();
      const Computation exact = compute_exact(problem, task.backend, quiet),
                        single = compute(problem, with_tree("single"), task.backend, quiet),
                        median = compute(problem, with_tree("median"), task.backend, quiet);
      const auto error = [&](const Computation& of) {
        return output_rel_fro(of.output.z, exact.output.z).value();
      };
      single_errors.push_back(error(single));
      median_errors.push_back(error(median));
      chi = single.cost.pairs / exact.cost.pairs;
      if (layer == shown.layer && head == shown.head)
        result.rows = {{heatmap_of(exact, exact, task, "Exact attention", quiet),
                        heatmap_of(single, exact, task, "TF with T₀", quiet),
                        heatmap_of(median, exact, task, "TF with a median tree", quiet)}};
    }
    run.reached(double(layer + 1) / double(layers));
  }
  const Errors single = errors_of(single_errors), median = errors_of(median_errors);
  result.numbers = {
      {"error_single", "TF with T₀: greatest relative output error of all heads", 0, single.most},
      {"chi_single", "TF with T₀: pairs that meet, as a share of all", 1, chi},
      {"error_median_least",
       "TF with a median tree: least relative output error",
       {},
       median.least},
      {"error_median_most",
       "TF with a median tree: greatest relative output error",
       {},
       median.most}};
  result.notes = {
      task.example.name + ": " + std::to_string(single_errors.size()) +
          " heads. T₀ has height 6, w = 0 and b = 1 at every node, so that all queries and keys "
          "meet in the last leaf. `--set tree=single` takes it in every command.",
      "Both compute the same pairs, one after sorting tokens by leaf: an error above 0 would be of "
      "rounding alone. The figure shows " +
          layer_label(task.example, shown.layer) + ", head " + std::to_string(shown.head) + "."};
  return result;
}

}  // namespace

PaperFigure exact_tree_figure() {
  return {.id = "exact-tree",
          .paper = "Treeformer (Madaan et al. 2022), Lemma 1",
          .title = "The tree with which TF-attention is exact",
          .sentence = "TF-attention with the tree T₀ of Lemma 1 is exact attention.",
          .make = exact_with_one_leaf};
}

}  // namespace fovea
