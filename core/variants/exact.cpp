// Exact attention, the reference of everything: P = A / rowsum(A), A = exp(S), or what the head
// itself computes if it is a recurrence.
#include "variants/variant.h"

namespace fovea {
namespace {

struct ExactParameters {
  static std::vector<TypedField<ExactParameters>> fields() { return {}; }
};

Plan plan_exact(const Problem& problem, const ExactParameters&, Planning&) {
  if (problem.recurrence)
    return {.lengths = problem.lengths(),
            .causal = true,
            .form = RecurrentPlan{.recurrence = problem.recurrence}};
  TilePlan tiles;
  tiles.passes.push_back({.tiles = {{{0, problem.queries()},
                                     {0, problem.keys()},
                                     band_of(problem.causal, 0, problem.lengths().offset())}}});
  return {.lengths = problem.lengths(), .causal = problem.causal, .form = std::move(tiles)};
}

}  // namespace

Variant exact_variant() {
  return make_variant<ExactParameters>({.id = "exact",
                                        .label = "Exact",
                                        .paper = "Vaswani et al. 2017, Eq. 1",
                                        .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σⱼ exp(Sᵢⱼ),  S = s·q·k",
                                        .summary = "Every pair of query and key.",
                                        .unequal_lengths = UnequalLengths::all,
                                        .any_keys = true,
                                        .reference = true,
                                        .quick = true,
                                        .has_recurrent_form = true},
                                       plan_exact);
}

}  // namespace fovea
