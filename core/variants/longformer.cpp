// Longformer: a window, and global tokens that attend all tokens and that all tokens attend.
#include <algorithm>

#include "analysis/key_sets.h"
#include "variants/variant.h"
#include "variants/window_tiles.h"

namespace fovea {
namespace {

struct LongformerParameters {
  Index width = 256, globals = 1;

  static std::vector<TypedField<LongformerParameters>> fields() {
    using P = LongformerParameters;
    auto width = size_field<P>("width", "Width w", "tokens", &P::width, 0, 131072,
                               "How far before and after itself a query attends. With width >= n "
                               "the result is exact.",
                               [](Index n) { return short_size(n, 256); });
    width.field.worth_trying = try_sizes(width.field, 1);
    auto globals = size_field<P>("globals", "Global tokens g", "tokens", &P::globals, 0, 131072,
                                 "The first g tokens attend all tokens, and all attend them. With "
                                 "globals >= n the result is exact.",
                                 [](Index) { return Index{1}; });
    globals.field.worth_trying = try_sizes(globals.field, 1, 6);
    return {width, globals};
  }
};

// One pass: the global queries, and for all others the global keys and the window.
Plan plan_longformer(const Problem& problem, const LongformerParameters& p, Planning&) {
  const Index n = problem.n(), globals = std::min(p.globals, n);
  Pass pass;
  if (globals > 0)
    pass.tiles.push_back({{0, globals}, {0, n}, problem.causal ? Band{.lo = 0} : Band{}});
  for (const Tile& tile : window_tiles({globals, n}, {globals, n}, p.width, problem.causal)) {
    if (globals > 0) pass.tiles.push_back({tile.rows, {0, globals}, {}});
    pass.tiles.push_back(tile);
  }
  return {
      .lengths = {n, n}, .causal = problem.causal, .form = TilePlan{.passes = {std::move(pass)}}};
}

}  // namespace

Variant longformer_variant() {
  return make_variant<LongformerParameters>(
      {.id = "longformer",
       .label = "Longformer",
       .paper = "Beltagy et al. 2020, section 3.1: sliding window and global attention",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  |i−j| ≤ w or i < g or j < g",
       .summary = "The tokens around each query, and the first g tokens with all others.",
       .mask = Mask::bidirectional_in_paper,
       .unequal_lengths = UnequalLengths::last_queries,
       .group = Group::baselines,
       .quick = true,
       .diagnostics = {key_set_figures}},
      plan_longformer);
}

}  // namespace fovea
