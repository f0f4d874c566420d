// Factorized attention, strided pattern: the last l tokens, and every l-th token before.
#include <algorithm>

#include "variants/factorized.h"
#include "variants/sinks.h"
#include "variants/variant.h"
#include "variants/window_tiles.h"

namespace fovea {
namespace {

struct StridedParameters {
  Index stride = 128;
  HeadSets heads = HeadSets::merged;
  Index sinks = 0;

  static std::vector<TypedField<StridedParameters>> fields() {
    using P = StridedParameters;
    auto stride = size_field<P>("stride", "Stride l", "tokens", &P::stride, 1, 131072,
                                "Length of the window, and distance of the tokens beyond it. With "
                                "stride >= n the result is exact.",
                                short_stride);
    stride.field.worth_trying = try_sizes(stride.field, 2);
    return {stride,
            choice_field("heads", "Heads", &P::heads, {"merged", "first", "second", "split"},
                         "merged: one softmax over the window and every l-th token. first: the "
                         "window alone. second: every l-th token alone. split: even heads first, "
                         "odd heads second."),
            sinks_field(&P::sinks)};
  }
};

// Tokens i and j with (i - j) mod l = 0 lie together after the permutation i -> (i mod l, i div l).
// `distinct`: without the diagonal, which the window holds; the rest is at least l apart.
Pass residue_classes(Index n, Index stride, bool causal, bool distinct) {
  Pass pass;
  for (Index residue = 0; residue < std::min(stride, n); ++residue) {
    const Index begin = static_cast<Index>(pass.rows.size());
    for (Index i = residue; i < n; i += stride) pass.rows.push_back(static_cast<std::int32_t>(i));
    const IndexRange members{begin, static_cast<Index>(pass.rows.size())};
    if (!distinct) {
      pass.tiles.push_back({members, members, causal ? Band{.lo = 0} : Band{}});
    } else if (members.size() > 1) {
      pass.tiles.push_back({members, members, {.lo = 1}});
      if (!causal) pass.tiles.push_back({members, members, {.hi = -1}});
    }
  }
  pass.cols = pass.rows;
  return pass;
}

Plan plan_strided(const Problem& problem, const StridedParameters& p, Planning&) {
  const Index n = problem.n();
  const HeadSets sets = sets_of_head(p.heads, problem.head);
  TilePlan tiles;
  if (sets != HeadSets::second)
    tiles.passes.push_back({.tiles = window_tiles({0, n}, {0, n}, p.stride - 1, problem.causal)});
  if (sets != HeadSets::first)
    tiles.passes.push_back(residue_classes(n, p.stride, problem.causal, sets == HeadSets::merged));
  std::erase_if(tiles.passes, [](const Pass& pass) { return pass.tiles.empty(); });
  add_sinks(tiles.passes, p.sinks, n, problem.causal);
  return {.lengths = {n, n}, .causal = problem.causal, .form = std::move(tiles)};
}

}  // namespace

Variant strided_variant() {
  return make_variant<StridedParameters>(
      {.id = "strided",
       .label = "Strided",
       .paper = "Child et al. 2019, section 4.3; merged heads: Eq. 7",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ = {i−l < j ≤ i} ∪ {(i−j) mod l = 0},  j ≤ i",
       .summary = "The last l tokens and every l-th token before them.",
       .mask = Mask::causal_in_paper,
       .unequal_lengths = UnequalLengths::last_queries,
       .diagnostics = {key_set_figures}},
      plan_strided);
}

}  // namespace fovea
