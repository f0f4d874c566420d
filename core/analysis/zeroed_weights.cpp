#include "analysis/zeroed_weights.h"

#include <cmath>
#include <limits>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"
#include "backend/rounded_weights.h"

namespace fovea {
namespace {

/// The weights of a row that are above 0, those of them that become 0, and their mass.
struct ZeroedRow {
  double weights = 0, zeroed = 0, mass = 0;
};

ZeroedRow zeroed_of_row(const float* before, const float* after, Index keys) {
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  ZeroedRow row;
  for (Index j = 0; j < keys; ++j) {
    if (std::isnan(before[j])) return {1, undefined, undefined};
    row.weights += before[j] > 0;
    if (before[j] == 0 || after[j] != 0) continue;
    ++row.zeroed;
    row.mass += static_cast<double>(before[j]);
  }
  return row;
}

}  // namespace

std::vector<Diagnostic> zeroed_weight_figures(const Diagnosis& of, Run& run) {
  const Plan& plan = of.approximate.plan();
  if (!plan.rounded || !plan.rounded->weights) return {};
  Run quiet = run.quiet();  // progress counts rows
  const auto as_they_are =
      of.backend.bind(without_weight_rounding(plan), of.approximate.problem(), quiet);
  as_they_are->apply({nullptr, plan.keys(), 0, 0}, quiet);  // finds the sums of rows
  const RowBands rows = row_bands(plan.lengths, most_read_entries, 0);
  std::vector<double> weights, zeroed, mass;
  for (const IndexRange& band : rows.bands) {
    run.check();
    const IndexRange all{0, plan.keys()};
    const Matrix before = as_they_are->tile(band, all, quiet),
                 after = of.approximate.tile(band, all, quiet);
    for (Index r = 0; r < before.rows(); ++r) {
      const ZeroedRow row = zeroed_of_row(before.row(r), after.row(r), plan.keys());
      weights.push_back(row.weights);
      zeroed.push_back(row.zeroed);
      mass.push_back(row.mass);
    }
    run.reached(static_cast<double>(mass.size()) / static_cast<double>(rows.rows));
  }
  const Estimate share = ratio_of_sums(rows, zeroed, weights), lost = mean_of(rows, mass);
  return {
      {.id = "p_zeroed",
       .label = "Rounded to 0 in P",
       .value = share.value,
       .meaning = "The share of the weights above 0 that became 0.",
       .sampled = rows.sampled(),
       .standard_error = share.standard_error},
      {.id = "p_zeroed_mass",
       .label = "Mass rounded to 0",
       .value = lost.value,
       .meaning =
           "The sum of the weights of a row that became 0, as they were before. Mean over rows.",
       .sampled = rows.sampled(),
       .standard_error = lost.standard_error}};
}

}  // namespace fovea
