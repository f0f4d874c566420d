// Imported: what another program computed from the same queries, keys and values, or the pairs that
// it keeps, beside them in the file. Z and P are compared with exact attention as those of a
// variant are. Where the file holds neither, they are the softmax over the kept pairs, computed
// here.
#include <utility>

#include "analysis/gradients.h"
#include "analysis/rounding_budget.h"
#include "analysis/run_figures.h"
#include "analysis/selected_recall.h"
#include "analysis/support.h"
#include "data/error.h"
#include "data/stop.h"
#include "variants/mask_tiles.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct ImportedParameters {
  std::string result;

  static std::vector<TypedField<ImportedParameters>> fields() {
    return {
        text_field("result", "result", &ImportedParameters::result,
                   "Which result of the file: NAME of the tensors LAYER.NAME.z, .p, .lse, .kept "
                   "and other lists of pairs. Without a name the first one.")};
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

/// Blocks with fewer queries leave most lanes of a strip of queries without work: a mask of pairs
/// is as fast.
constexpr Index least_queries_of_tiles = 16;

Pass tiles_of(const Selection& selection, const Band& band, const std::stop_token& stop) {
  Pass pass{.unit = "tile"};
  for_each_row(selection.rows(), stop, [&](Index row) {
    for (const IndexRange& keys : selection.runs(row))
      pass.tiles.push_back({selection.queries_of(row), keys, band});
  });
  return pass;
}

/// Sets what is kept, as tiles or as a mask of the plan.
void keep(Selection selection, const Problem& problem, Plan& plan, ImportedPlan& form,
          Planning& planning) {
  const ShareOut share_out = [&](Index turns, const auto& turn_of) {
    planning.backend.share_out(turns, planning.run, turn_of);
  };
  for (std::string& fault : faults_of(selection, problem.band(), problem.mask.get(), share_out))
    plan.notes.push_back(std::move(fault));
  if (selection.block.queries >= least_queries_of_tiles) {
    plan.mask = problem.mask;
    form.kept = tiles_of(selection, plan.band(), planning.run.stop);
  } else {
    plan.mask = pairs_of(std::move(selection), problem.mask);
    form.kept = tiles_of_mask(plan.mask->pairs(), plan.band(), planning);
  }
}

Plan plan_imported(const Problem& problem, const ImportedParameters& parameters,
                   Planning& planning) {
  const std::stop_token& stop = planning.run.stop;
  const ImportedTensors& tensors = problem.imported->named(parameters.result);
  const Index head = problem.imported->head;
  auto result = std::make_shared<const ImportedResult>(read_imported(tensors, head, stop));
  Plan plan{.lengths = problem.lengths(),
            .causal = problem.causal,
            .window = problem.window,
            .head_mask = problem.mask};
  ImportedPlan form{.result = result};
  if (problem.recurrence && result->p.empty() && tensors.kept.present())
    throw UsageError("a list of kept pairs says nothing of a recurrence (" +
                     problem.recurrence->name() + "); expected z or p");
  if (tensors.kept.present()) {
    if (result->p.empty())
      plan.notes.push_back("weights are softmax over the pairs that the file says were kept");
    keep(read_selection(tensors.kept, head, problem.lengths(), stop), problem, plan, form,
         planning);
  } else if (!result->p.empty()) {
    plan.mask = pairs_with_weight(result->p, problem, stop);
    form.kept = pass_of_all_pairs(plan);
  } else if (result->z.empty() && problem.recurrence) {
    throw UsageError("gradients say nothing of a recurrence (" + problem.recurrence->name() +
                     "); expected z or p");
  } else if (result->z.empty()) {
    plan.notes.push_back("the file holds gradients alone: z is computed here");
    form.kept = pass_of_all_pairs(plan);
  } else {
    plan.notes.push_back(std::string("the file holds z alone: weights are not known") +
                         (problem.recurrence ? "" : ", and multiply-adds are those of all pairs"));
  }
  if (result->z.empty() && !result->p.empty() && problem.has_values())
    plan.notes.push_back("the file holds p alone: z is P V, computed here");
  plan.form = std::move(form);
  return plan;
}

}  // namespace

Variant make_imported_variant() {
  return make_variant<ImportedParameters>(
      {.id = "imported",
       .label = "Imported",
       .paper = "tensors z, z_runs, lse, p, kept and lists of pairs of the file",
       .formula = "Z̃, P̃ as the file holds them, or P̃ = softmax of S over the pairs that it keeps",
       .summary =
           "What another program computed from the same queries, keys and values, or the pairs "
           "that it keeps.",
       .unequal_lengths = UnequalLengths::all,
       .any_keys = true,
       .rows_sum_to_one = false,
       .signed_entries = true,
       .imported = true,
       .diagnostics = {imported_figures, run_figures, gradient_figures, given_selection_figures}},
      plan_imported);
}

}  // namespace fovea
