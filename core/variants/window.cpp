// Window attention: the tokens around each query, and sinks if any.
#include "analysis/key_sets.h"
#include "variants/sinks.h"
#include "variants/variant.h"
#include "variants/window_tiles.h"

namespace fovea {
namespace {

struct WindowParameters {
  Index width = 256, sinks = 0;

  static std::vector<TypedField<WindowParameters>> fields() {
    using P = WindowParameters;
    auto width = size_field<P>("width", "Width w", "tokens", &P::width, 0, 131072,
                               "How far before and after itself a query attends. With width >= n "
                               "the result is exact.",
                               [](Index n) { return short_size(n, 256); });
    width.field.worth_trying = try_sizes(width.field, 1);
    return {width, sinks_field(&P::sinks)};
  }
};

Plan plan_window(const Problem& problem, const WindowParameters& p, Planning&) {
  const Index n = problem.n();
  TilePlan tiles;
  tiles.passes.push_back({.tiles = window_tiles({0, n}, {0, n}, p.width, problem.causal)});
  add_sinks(tiles.passes, p.sinks, n, problem.causal);
  return {.lengths = {n, n}, .causal = problem.causal, .form = std::move(tiles)};
}

}  // namespace

Variant window_variant() {
  return make_variant<WindowParameters>(
      {.id = "window",
       .label = "Window",
       .paper = "Beltagy et al. 2020, section 3.1: sliding window; sinks: Xiao et al. 2023",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  |i−j| ≤ w or j < s",
       .summary = "The w tokens before and after each query, and the first s.",
       .unequal_lengths = UnequalLengths::last_queries,
       .group = Group::baselines,
       .quick = true,
       .diagnostics = {key_set_figures}},
      plan_window);
}

}  // namespace fovea
