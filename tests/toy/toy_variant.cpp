// A variant that only the tests have, to show what a variant takes: one file, with its planner and
// parameters, its formula and its cases. Nothing in core or app knows it.
//
// Toy attention: tokens have colours, i mod c, and a query attends the keys of its own colour, each
// with a random weight: P_ij = [colour(i) = colour(j)] w_j exp(S_ij) / sum of the same over j.
#include "toy/toy_variant.h"

#include <algorithm>

#include "analysis/leaf_skew.h"
#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"
#include "laws/formulas.h"

namespace fovea::test {
namespace {

struct ToyParameters {
  Index colours = 32;
  double spread = 0.5;

  static std::vector<TypedField<ToyParameters>> fields() {
    using P = ToyParameters;
    auto colours = size_field<P>("colours", "Colours c", "tokens", &P::colours, 1, 4096,
                                 "Every c-th token has the same colour. With 1 all have.",
                                 [](Index n) { return short_size(n, 32); });
    colours.field.followers = {"spread"};
    colours.field.worth_trying = try_sizes(colours.field, 1);
    return {colours, real_field("spread", "Spread", "", &P::spread, 0, 1, Axis::linear,
                                "How unequal the weights of the keys are; 0: all are 1.")};
  }
};

std::vector<TensorField> toy_tensors() {
  return {
      {.name = "toy_colour", .shapes = {{"n"}}, .meaning = "Colour of every token."},
      {.name = "toy_weight",
       .element = Element::real,
       .shapes = {{"n"}},
       .meaning = "Weight of every key."},
  };
}

std::vector<std::int32_t> colours_of(Index n, const ToyParameters& p, const Planning& planning) {
  std::vector<std::int32_t> colour = planning.integers("toy_colour", {"n"});
  for (const std::int32_t c : colour)
    if (c >= p.colours)
      throw InputError("toy_colour",
                       std::to_string(c) + " found: below " + std::to_string(p.colours));
  for (Index i = static_cast<Index>(colour.size()); i < n; ++i)
    colour.push_back(static_cast<std::int32_t>(i % p.colours));
  return colour;
}

std::vector<float> weights_of(Index n, const ToyParameters& p, const Problem& problem,
                              Planning& planning) {
  const auto stage = planning.run.profile.stage("toy training");
  std::vector<float> weight = planning.reals("toy_weight", {"n"});
  Random random(planning.seed, stream_of(DrawPurpose{77}, problem.head));
  for (Index j = static_cast<Index>(weight.size()); j < n; ++j)
    weight.push_back(static_cast<float>(1 + p.spread * random.uniform()));
  return weight;
}

Plan plan_toy(const Problem& problem, const ToyParameters& p, Planning& planning) {
  const Index n = problem.n();
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal};
  const auto colour = colours_of(n, p, planning);
  const auto weight = weights_of(n, p, problem, planning);
  Pass pass;
  pass.rows = pass.cols =
      planning.backend.stable_order(colour, static_cast<std::int32_t>(p.colours), planning.run);
  for (const std::int32_t j : pass.cols) pass.weight.push_back(weight[static_cast<std::size_t>(j)]);
  for (Index begin = 0, end = 0; begin < n; begin = end) {
    const auto same = [&](Index at) {
      return colour[static_cast<std::size_t>(pass.rows[static_cast<std::size_t>(at)])];
    };
    while (end < n && same(end) == same(begin)) ++end;
    pass.tiles.push_back({{begin, end}, {begin, end}, problem.causal ? Band{.lo = 0} : Band{}});
  }
  plan.form = TilePlan{.passes = {std::move(pass)}};
  plan.structure.set("toy_colour", colour);
  plan.structure.set("toy_weight", weight);
  plan.groups = {"colour", "toy_colour", "toy_colour", {}, p.colours};
  return plan;
}

template <class Real>
Dense<Real> toy_formula(const Instance& x) {
  const auto& weight = x.plan->structure.reals("toy_weight");
  const Index colours = Parameters{x}.integer("colours");
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    return i % colours == j % colours ? static_cast<Real>(weight[static_cast<std::size_t>(j)])
                                      : Real(0);
  });
}

}  // namespace

Variant toy_variant() {
  return make_variant<ToyParameters>({.id = "toy",
                                      .label = "Toy",
                                      .paper = "Nobody 2000",
                                      .formula = "Pᵢⱼ = [cᵢ = cⱼ] wⱼ exp(Sᵢⱼ) / Σⱼ",
                                      .summary = "The keys of the query's own colour.",
                                      .structure = toy_tensors(),
                                      .learning_stages = {"toy training"},
                                      .diagnostics = {leaf_skew_figures}},
                                     plan_toy);
}

VariantLaws toy_laws() {
  VariantLaws laws =
      laws_from("toy", [](auto real, const Instance& x) { return toy_formula<decltype(real)>(x); },
                {{.settings = {{"colours", "3"}}, .random = true},
                 {.settings = {{"colours", "16"}, {"spread", "1"}}, .random = true}});
  laws.exact_settings = {{{{"colours", "1"}, {"spread", "0"}}}};
  return laws;
}

}  // namespace fovea::test
