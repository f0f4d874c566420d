// THE table of variants: adding one means one file and one row here.
#include <algorithm>

#include "data/error.h"
#include "data/text.h"
#include "variants/drawn.h"
#include "variants/last_queries.h"
#include "variants/variant.h"

namespace fovea {
namespace {

std::vector<Variant>& table() {
  static std::vector<Variant> rows{exact_variant(),
                                   h1d_variant(),
                                   fixed_variant(),
                                   strided_variant(),
                                   tf_variant(),
                                   tc_variant(),
                                   hyper_variant(),
                                   window_variant(),
                                   longformer_variant(),
                                   bigbird_variant(),
                                   reformer_variant(),
                                   kde_variant(),
                                   linformer_variant(),
                                   sinkhorn_variant(),
                                   synthesizer_variant(),
                                   linear_variant(),
                                   performer_variant(),
                                   moba_variant(),
                                   vertical_slash_variant(),
                                   msa_variant(),
                                   nsa_variant(),
                                   dsa_variant(),
                                   xattention_variant(),
                                   sparge_variant(),
                                   quest_variant(),
                                   h2o_variant(),
                                   snapkv_variant(),
                                   expected_variant(),
                                   oracle_variant(),
                                   sta_variant(),
                                   svg_variant(),
                                   svg2_variant(),
                                   radial_variant(),
                                   delta_variant(),
                                   ssd_variant(),
                                   loglinear_variant(),
                                   int8_variant(),
                                   int4_variant(),
                                   fp8_variant(),
                                   nvfp4_variant()};
  return rows;
}

}  // namespace

std::span<const Variant> variants() {
  return table();
}

std::vector<const Variant*> variants_of(Group group) {
  std::vector<const Variant*> found;
  for (const Variant& variant : table())
    if (variant.group == group) found.push_back(&variant);
  return found;
}

std::span<const GroupKind> groups() {
  static constexpr GroupKind kinds[] = {
      {Group::papers, "papers", "Efficient attentions",
       "exact attention and the variants of the four papers"},
      {Group::baselines, "baselines", "Baselines", "what the papers' tables compare with"},
      {Group::selectors, "selectors", "Selectors",
       "keys, or blocks of them, that are selected by a score of the head"},
      {Group::grids, "grids", "Pictures and videos",
       "patterns of pictures and videos, whose tokens lie in frames of rows and columns"},
      {Group::recurrences, "recurrences", "Recurrences",
       "a state that decays, in place of a softmax"},
      {Group::precisions, "precisions", "Low precision",
       "exact attention of queries, keys and values in 8 or 4 bits"}};
  return kinds;
}

const GroupKind& kind_of(Group group) {
  return *std::ranges::find(groups(), group, &GroupKind::group);
}

std::string words_for_groups() {
  return join(groups(), &GroupKind::id) + ", all";
}

void add_variant(Variant row) {
  table().push_back(std::move(row));
}

const Variant& imported_variant() {
  static const Variant imported = make_imported_variant();
  return imported;
}

const Variant& reference_variant() {
  return *std::ranges::find_if(table(), &Variant::reference);
}

const Variant& find_variant(std::string_view id) {
  std::string known;
  for (const auto& variant : variants()) {
    if (variant.id == id) return variant;
    add_item(known, variant.id);
  }
  for (const Variant* variant : {&imported_variant(), &drawn_variant()})
    if (id == variant->id) return *variant;
  throw UsageError("unknown variant '" + std::string(id) + "'; expected one of " + known);
}

namespace {

/// Names of what is given and not taken.
std::vector<std::string> left_over(const Variant& variant, const Structure& given) {
  std::vector<std::string> names, known;
  for (const StructureTensor& tensor : given.tensors()) names.push_back(tensor.name);
  for (const TensorField& field : variant.structure) known.push_back(field.name);
  const auto taken = [&](const std::string& name) {
    return std::ranges::find(known, name) != known.end();
  };
  if (!names.empty() && std::ranges::none_of(names, taken))
    throw InputError("given structure",
                     "holds " + join(names) + "; " + variant.label +
                         (known.empty() ? " takes none" : " expected one of " + join(known)));
  std::erase_if(names, taken);
  return names;
}

/// Tiles take the bands of their own sets and the causal mask; the window and the mask are common
/// to all variants.
void set_conditions(Plan& plan, const Problem& problem) {
  plan.window = problem.window;
  if (!plan.head_mask) plan.mask = problem.mask;
  auto* tiles = plan.as<TilePlan>();
  if (!tiles || problem.window == 0) return;
  for (Pass& pass : tiles->passes)
    for (Tile& tile : pass.tiles) tile.band = tile.band & problem.band();
}

void check_taken(const Planning& planning, std::string_view name, const SymbolicShape& shape,
                 const Sizes& more) {
  Sizes all = planning.sizes;
  all.insert(all.end(), more.begin(), more.end());
  if (const StructureTensor* tensor = planning.given.find(name)) check_shape(*tensor, {shape}, all);
}

}  // namespace

const std::vector<std::int32_t>& Planning::integers(std::string_view name,
                                                    const SymbolicShape& shape,
                                                    const Sizes& more) const {
  check_taken(*this, name, shape, more);
  return given.integers(name);
}

const std::vector<float>& Planning::reals(std::string_view name, const SymbolicShape& shape,
                                          const Sizes& more) const {
  check_taken(*this, name, shape, more);
  return given.reals(name);
}

bool Variant::has_form_of(Lengths lengths, bool causal) const {
  if (!(causal ? has_causal_form() : has_bidirectional_form())) return false;
  const bool last = causal && lengths.queries < lengths.keys;
  return lengths.equal() || unequal_lengths == UnequalLengths::all ||
         (unequal_lengths == UnequalLengths::last_queries && last);
}

std::string Variant::refusal(const Problem& problem) const {
  if (imported && !problem.imported)
    return label +
           " shows what another program computed or keeps; the source holds no z, p, gradients, "
           "mask or list of pairs beside q, k and v of this head";
  if (problem.recurrence && !has_recurrent_form && !imported)
    return label + " replaces softmax attention; this head is a recurrence (" +
           problem.recurrence->name() + ")";
  if (problem.compressed && !any_keys)
    return label + " has no form for the " + problem.compressed->count_text() +
           " of this head: it takes all keys for the tokens of a sequence";
  if (problem.causal && !has_causal_form())
    return label + " has no causal form; expected a head without a causal mask";
  if (!problem.causal && !has_bidirectional_form())
    return label +
           " has no form without a causal mask: it takes one token after another; expected a "
           "causal head";
  if (!has_form_of(problem.lengths(), problem.causal))
    return label + " has no form for " + problem.lengths().text() +
           ": it pairs the positions of one sequence" +
           (unequal_lengths == UnequalLengths::last_queries
                ? "; expected fewer queries than keys under a causal mask, or as many"
                : "");
  const LogitRule rule = problem.rule ? *problem.rule : LogitRule{};
  const char* found = conditions == Conditions::all            ? nullptr
                      : problem.window > 0                     ? "a sliding window"
                      : problem.mask                           ? "a mask of pairs"
                      : rule.has_bias()                        ? "a bias of the logits"
                      : conditions == Conditions::cap_and_sink ? nullptr
                      : rule.soft_cap > 0                      ? "a soft cap"
                      : rule.sink                              ? "a sink"
                                                               : nullptr;
  return found ? label + " has no form with " + found + ": " + why_not_all : std::string();
}

Plan Variant::plan(const Problem& problem, const Values& values, Planning& planning) const {
  check_values(schema, values);
  if (const std::string why_not = refusal(problem); !why_not.empty()) throw UsageError(why_not);
  planning.run.check();
  const std::vector<std::string> unused = left_over(*this, planning.given);
  const Lengths lengths = problem.lengths();
  planning.sizes = {
      {"n", lengths.keys}, {"nq", lengths.queries}, {"nk", lengths.keys}, {"d", problem.d()}};
  check_given(planning.given, structure, planning.sizes);
  planning.finish = {};
  const bool of_last = !lengths.equal() && unequal_lengths == UnequalLengths::last_queries;
  Plan plan = planner(of_last ? with_all_queries(problem) : problem, values, planning);
  if (of_last) keep_last_queries(plan, lengths.queries);
  set_conditions(plan, problem);
  if (planning.finish) planning.finish(plan);
  if (!unused.empty())
    plan.notes.push_back("given, but not used by " + label + ": " + join(unused));
  return plan;
}

std::vector<Diagnostic> diagnose(const Variant& variant, const Diagnosis& of, Run& run) {
  std::vector<Diagnostic> all;
  for (const DiagnosticSource& source : variant.diagnostics)
    for (Diagnostic& diagnostic : source(of, run)) all.push_back(std::move(diagnostic));
  return all;
}

}  // namespace fovea
