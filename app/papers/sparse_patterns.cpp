// The factorized patterns of Sparse Transformer, and how far information travels in two layers.
#include "analysis/reach.h"
#include "analysis/support.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "variants/schema.h"

namespace fovea {
namespace {

constexpr Index tokens = 64;  // a sequence of 8 x 8 pixels, as Figure 3 draws
constexpr const char* stride_text = "8";

struct Pattern {
  std::string id, variant;
  std::vector<std::pair<std::string, std::string>> settings;
  std::string title;
};

Values values_of(const Pattern& pattern) {
  const Variant& variant = find_variant(pattern.variant);
  Values values = defaults(variant.schema);
  for (const auto& [id, text] : pattern.settings) set_value(variant.schema, values, id, text);
  return values;
}

PaperResult factorized_patterns(const PaperTask& task, Run& run) {
  const Source source = open_source("synthetic:gaussian?n=" + std::to_string(tokens) + "&d=16");
  const Problem problem = problem_of(source, {.causal = true});
  const Computation exact = compute(problem, {.variant = &reference_variant()}, task.backend, run);
  const Pattern patterns[] = {
      {"exact", "exact", {}, "Full attention"},
      {"strided", "strided", {{"stride", stride_text}}, "Strided, l = 8"},
      {"fixed", "fixed", {{"stride", stride_text}, {"summary", "2"}}, "Fixed, l = 8, c = 2"}};
  PaperResult result;
  result.rows.emplace_back();
  for (const Pattern& pattern : patterns) {
    const Computation computation =
        compute(problem, {.variant = &find_variant(pattern.variant), .values = values_of(pattern)},
                task.backend, run);
    const Plan& plan = computation.op->plan();
    if (pattern.id != "exact")
      result.numbers.push_back(
          {"reach_" + pattern.id,
           pattern.title + ": share of the pairs j ≤ i that two layers connect", 1,
           two_hop_reach(plan, run.stop).share.value});
    result.numbers.push_back(
        {"pairs_" + pattern.id, pattern.title + ": pairs attended", {}, computation.cost.pairs});
    ViewSettings settings;
    settings.mask_block = 1;
    Panel panel = make_panel(View::mask,
                             {.computation = computation,
                              .exact = exact,
                              .backend = task.backend,
                              .sequence = source.sequence,
                              .settings = settings,
                              .rows = {0, tokens},
                              .cols = {0, tokens}},
                             run);
    panel.title = pattern.title;
    panel.subtitle.clear();
    result.rows.front().push_back(std::move(panel));
  }
  result.notes = {
      "Both sets of a pattern are merged into one softmax. The paper asks that every pair be "
      "connected in two layers, and states no count of pairs for a figure.",
      "The paper's text writes the summary columns of the fixed pattern as l − c … l, one more "
      "than a block has; here they are l − c … l − 1."};
  return result;
}

}  // namespace

PaperFigure sparse_pattern_figure() {
  return {.id = "sparse-patterns",
          .paper = "Sparse Transformer (Child et al. 2019), Figure 3",
          .title = "Factorized attention patterns",
          .sentence = "Which keys each query attends, and that two layers connect every pair.",
          .make = factorized_patterns};
}

}  // namespace fovea
