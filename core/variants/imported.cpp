// Imported: what another program computed from the same queries, keys and values, beside them in
// the file. Its Z and P are compared with exact attention as those of a variant are.
#include <utility>

#include "analysis/rounding_budget.h"
#include "data/stop.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct ImportedParameters {
  std::string result;

  static std::vector<TypedField<ImportedParameters>> fields() {
    return {text_field("result", "result", &ImportedParameters::result,
                       "Which result of the file: NAME of the tensors LAYER.NAME.z, .p, .lse and "
                       ".kept. Without a name the first one.")};
  }
};

// 0 is no weight.
std::shared_ptr<const PairMask> pairs_with_weight(const Matrix& p, const Problem& problem,
                                                  const std::stop_token& stop) {
  BitMatrix pairs(p.rows(), p.cols());
  for_each_row(p.rows(), stop, [&](Index i) {
    for (Index j = 0; j < p.cols(); ++j)
      if (p(i, j) != 0) pairs.set(i, j);
  });
  const auto none = std::vector<std::int32_t>();
  const PairMask* mask = problem.mask.get();
  return std::make_shared<const PairMask>(mask ? mask->query_document() : none,
                                          mask ? mask->key_document() : none, std::move(pairs));
}

Plan plan_imported(const Problem& problem, const ImportedParameters& parameters,
                   Planning& planning) {
  const std::stop_token& stop = planning.run.stop;
  const ImportedTensors& tensors = problem.imported->named(parameters.result);
  auto result =
      std::make_shared<const ImportedResult>(read_imported(tensors, problem.imported->head, stop));
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal, .head_mask = problem.mask};
  ImportedPlan form{.result = result, .kept = tensors.kept.present()};
  if (form.kept) {
    plan.mask = kept_pairs(tensors, problem.imported->head, problem.lengths(), problem.mask, stop);
    if (result->p.empty())
      plan.notes.push_back("weights are softmax over the pairs that the file says were kept");
  } else if (!result->p.empty()) {
    plan.mask = pairs_with_weight(result->p, problem, stop);
    form.kept = true;
  } else {
    plan.notes.push_back(
        "the file holds z alone: weights are not known, and multiply-adds are those of all pairs");
  }
  if (result->z.empty() && problem.has_values())
    plan.notes.push_back("the file holds p alone: z is P V, computed here");
  plan.form = std::move(form);
  return plan;
}

}  // namespace

Variant make_imported_variant() {
  return make_variant<ImportedParameters>(
      {.id = "imported",
       .label = "Imported",
       .paper = "tensors z, lse, p and kept of the file",
       .formula = "Z̃, P̃ as the file holds them",
       .summary = "What another program computed from the same queries, keys and values.",
       .unequal_lengths = UnequalLengths::all,
       .rows_sum_to_one = false,
       .signed_entries = true,
       .imported = true,
       .diagnostics = {imported_figures}},
      plan_imported);
}

}  // namespace fovea
