// Synthesizer, factorized random: attention that does not look at the input.
#include <cmath>

#include "data/draw_purpose.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/random.h"
#include "variants/variant.h"

namespace fovea {
namespace {

constexpr char factor_stage[] = "draw";

struct SynthesizerParameters {
  Index rank = 32;

  static std::vector<TypedField<SynthesizerParameters>> fields() {
    auto rank = int_field<SynthesizerParameters, Index>(
        "rank", "Rank k", "features", &SynthesizerParameters::rank, 1, 4096, Axis::log2,
        "Features of a token's place. They are random unless they are given.");
    rank.field.for_short_head = [](Index) { return Value(std::int64_t{32}); };
    rank.field.worth_trying = try_sizes(rank.field, 1, 3);
    return {rank};
  }
};

// Entries of variance k^(-1/2), so that logits have variance 1.
std::vector<float> factors(const char* name, const SymbolicShape& shape, Index rank,
                           DrawPurpose purpose, const Problem& problem, Planning& planning) {
  const auto stage = planning.run.profile.stage(factor_stage);
  std::vector<float> values = planning.reals(name, shape, {{"k", rank}});
  if (!values.empty()) return values;
  planning.run.check();
  Random random(planning.seed, stream_of(purpose, problem.head));
  const double size = std::pow(static_cast<double>(rank), -0.25);
  values.resize(static_cast<std::size_t>(problem.n() * rank));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 4096 == 0) planning.run.check();
    values[i] = static_cast<float>(size * random.normal());
  }
  return values;
}

Plan plan_synthesizer(const Problem& problem, const SynthesizerParameters& p, Planning& planning) {
  const Index n = problem.n(), k = p.rank;
  require_memory(16.0 * static_cast<double>(n) * static_cast<double>(k),  // two, in two copies
                 "factors of Synthesizer of " + plural(n, "token"), fewer_tokens);
  std::vector<float> of_queries = factors("query_factors", {"n", "k"}, k,
                                          DrawPurpose::query_factors, problem, planning),
                     of_keys = factors("key_factors", {"k", "n"}, k, DrawPurpose::key_factors,
                                       problem, planning);
  Matrix queries(n, k), keys(n, k);
  std::ranges::copy(of_queries, queries.data());
  for (Index r = 0; r < k; ++r) {
    planning.run.check();
    for (Index j = 0; j < n; ++j) keys(j, r) = of_keys[static_cast<std::size_t>(r * n + j)];
  }
  Plan plan{.lengths = {n, n}, .causal = problem.causal, .form = {}};
  ProjectedPlan projected;
  projected.tiles.passes.push_back(
      {.tiles = {{{0, n}, {0, n}, problem.causal ? Band{.lo = 0} : Band{}}}});
  projected.queries = std::move(queries);
  projected.keys = std::move(keys);
  projected.own = n;
  plan.form = std::move(projected);
  if (!planning.given.has("query_factors") || !planning.given.has("key_factors"))
    plan.notes.push_back(
        "random factors, which Synthesizer learns: Z says little about a trained model");
  plan.structure.set({"query_factors", {n, k}, std::move(of_queries)});
  plan.structure.set({"key_factors", {k, n}, std::move(of_keys)});
  return plan;
}

}  // namespace

Variant synthesizer_variant() {
  return make_variant<SynthesizerParameters>(
      {.id = "synthesizer",
       .label = "Synthesizer",
       .paper = "Tay et al. 2020, section 3.1: factorized random",
       .formula = "P = softmax(R₁ R₂),  R₁: n × k,  R₂: k × n",
       .summary = "Weights of places that do not depend on queries and keys.",
       .conditions = Conditions::none,
       .why_not_all = "its logits do not come from queries and keys",
       .group = Group::baselines,
       .structure = {{.name = "query_factors",
                      .element = Element::real,
                      .shapes = {{"n", "k"}},
                      .meaning = "R1, a row for each query."},
                     {.name = "key_factors",
                      .element = Element::real,
                      .shapes = {{"k", "n"}},
                      .meaning = "R2, a column for each key."}},
       .learning_stages = {factor_stage}},
      plan_synthesizer);
}

}  // namespace fovea
