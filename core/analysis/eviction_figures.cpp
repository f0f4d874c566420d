#include "analysis/eviction_figures.h"

#include <algorithm>
#include <limits>

#include "analysis/metrics.h"
#include "analysis/row_bands.h"

namespace fovea {
namespace {

/// How exact attention of one query meets what was evicted.
struct Missed {
  double mass = 0;
  bool top = false;
};

Missed missed_in(const float* p, Index query, const std::vector<std::int32_t>& evicted) {
  Missed out;
  Index heaviest = 0;
  for (Index j = 0; j <= query; ++j) {
    if (p[j] > p[heaviest]) heaviest = j;
    if (evicted[j] <= query) out.mass += static_cast<double>(p[j]);
  }
  out.top = p[heaviest] > 0 && evicted[heaviest] <= query;
  return out;
}

}  // namespace

std::vector<Diagnostic> eviction_figures(const Diagnosis& of, Run& run) {
  const Plan& plan = of.approximate.plan();
  const std::vector<std::int32_t>& evicted = plan.structure.integers("evicted");
  const auto stays = [&](std::int32_t query) { return query == plan.queries(); };
  if (std::ranges::all_of(evicted, stays)) return {};
  const RowBands rows = row_bands(plan.lengths, most_read_entries, 0);
  std::vector<double> mass, top;
  std::vector<float> mass_of_all(plan.queries(), std::numeric_limits<float>::quiet_NaN());
  double first = std::numeric_limits<double>::infinity();
  Run quiet = run.quiet();  // progress counts rows
  for (const IndexRange& band : rows.bands) {
    run.check();
    const Matrix p = of.exact.tile(band, {0, plan.keys()}, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      const Missed missed = missed_in(p.row(i - band.begin), i, evicted);
      mass.push_back(missed.mass);
      top.push_back(missed.top ? 1 : 0);
      mass_of_all[i] = static_cast<float>(missed.mass);
      if (missed.top) first = std::min(first, static_cast<double>(i));
    }
    run.reached(static_cast<double>(mass.size()) / static_cast<double>(rows.rows));
  }
  const Estimate of_mass = mean_of(rows, mass), of_top = mean_of(rows, top);
  return {
      {.id = "evicted_mass",
       .label = "Evicted mass",
       .value = of_mass.value,
       .meaning = "The exact weight of keys that were evicted before the query. Mean over rows.",
       .sampled = rows.sampled(),
       .standard_error = of_mass.standard_error,
       .rows = std::move(mass_of_all)},
      {.id = "evicted_top",
       .label = "Queries that miss their top key",
       .value = of_top.value,
       .meaning = "The share of queries whose heaviest key in exact attention was evicted "
                  "before.",
       .sampled = rows.sampled(),
       .standard_error = of_top.standard_error},
      {.id = "first_miss",
       .label = "First query that misses its top key",
       .value = first,
       .meaning =
           "The first query whose heaviest key in exact attention was evicted before; ∞ "
           "if there is none. If rows are sampled, it is the first such query of the sample, and "
           "earlier ones may have missed theirs.",
       .sampled = rows.sampled(),
       .standard_error = rows.sampled() ? std::numeric_limits<double>::quiet_NaN() : 0}};
}

}  // namespace fovea
