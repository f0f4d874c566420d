// The factorized patterns of Sparse Transformer, and how far information travels in two layers.
#include "analysis/reach.h"
#include "analysis/support.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "papers/request.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr Index pattern_tokens = 64;  // a sequence of 8 x 8 pixels, as Figure 3 draws

struct Pattern {
  std::string id;
  Index head;
  ComputeRequest request;
  std::string title;
  std::optional<double> reach = {};  // the reach that the paper asks for
};

/// The first three are those of Figure 3; the last two are heads of one layer with sub-blocks.
std::vector<Pattern> all_patterns() {
  const auto sub_block = [] {
    return request_of("fixed", {{"stride", "8"}, {"summary", "2"}, {"subblocks", "2"}});
  };
  return {{"exact", 0, request_of("exact", {}), "Full attention"},
          {"strided", 0, request_of("strided", {{"stride", "8"}}), "Strided, l = 8", 1},
          {"fixed", 0, request_of("fixed", {{"stride", "8"}, {"summary", "2"}}),
           "Fixed, l = 8, c = 2", 1},
          {"sub_block_0", 0, sub_block(), "Sub-blocks, head 0"},
          {"sub_block_1", 1, sub_block(), "Sub-blocks, head 1"}};
}

PaperResult factorized_patterns(const PaperTask& task, Run& run) {
  const Source source =
      open_source("synthetic:gaussian?n=" + std::to_string(pattern_tokens) + "&d=16&heads=2");
  PaperResult result;
  result.rows.emplace_back();
  for (const Pattern& pattern : all_patterns()) {
    const Problem problem =
        problem_of(source, {.head = pattern.head, .conditions = {.causal = true}});
    const Computation exact = compute_exact(problem, task.backend, run);
    const Computation computation = compute(problem, pattern.request, task.backend, run);
    const Plan& plan = computation.op->plan();
    if (pattern.id != "exact")
      result.numbers.push_back(
          {"reach_" + pattern.id,
           pattern.title + ": share of the pairs j ≤ i that two layers connect", pattern.reach,
           two_hop_reach(plan, run.stop).share.value});
    result.numbers.push_back(
        {"pairs_" + pattern.id, pattern.title + ": pairs attended", {}, computation.cost.pairs});
    ViewSettings settings;
    set_value(settings, "mask_block", "1");
    Panel panel = make_panel(find_view("mask"),
                             {.computation = computation,
                              .exact = exact,
                              .backend = task.backend,
                              .sequence = source.sequence,
                              .settings = settings,
                              .rows = {0, pattern_tokens},
                              .cols = {0, pattern_tokens}},
                             run);
    panel.title = pattern.title;
    panel.subtitle.clear();
    if (pattern.id == "sub_block_0") result.rows.emplace_back();
    result.rows.back().push_back(std::move(panel));
  }
  result.notes = {
      "Both sets of a pattern are merged into one softmax. The paper asks that every pair be "
      "connected in two layers, and states no count of pairs for a figure.",
      "The paper's text writes the summary columns of the fixed pattern as l − c … l, one more "
      "than a block has; here they are l − c … l − 1.",
      "Sub-blocks: section 4.3 gives heads distinct groups of c columns in the block. Head h of "
      "the second row takes the h-th group from the end of each block, l = 8, c = 2, two groups. "
      "Head 1 alone does not connect all pairs: the last two tokens of a block come after the "
      "columns of its group, which therefore do not attend them."};
  return result;
}

}  // namespace

PaperFigure sparse_pattern_figure() {
  return {
      .id = "sparse-patterns",
      .paper = "Sparse Transformer (Child et al. 2019), Figure 3 and section 4.3",
      .title = "Factorized attention patterns",
      .sentence =
          "Which keys each query attends, also with sub-blocks, and which share of the pairs two "
          "layers connect.",
      .make = factorized_patterns};
}

}  // namespace fovea
