#include "analysis/selected_recall.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/key_sets.h"
#include "analysis/row_bands.h"
#include "analysis/support.h"

namespace fovea {
namespace {

double recall_of_row(const float* weights, Index keys, const std::vector<bool>& selected) {
  std::vector<std::int32_t> order;
  for (std::int32_t j = 0; j < keys; ++j)
    if (weights[j] > 0) order.push_back(j);
  const auto k = std::min<std::ptrdiff_t>(std::ranges::count(selected, true), std::ssize(order));
  if (k == 0) return 1;
  if (k < std::ssize(order))
    std::nth_element(order.begin(), order.begin() + k, order.end(),
                     [&](std::int32_t a, std::int32_t b) {
                       return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
                     });
  const auto found = std::count_if(order.begin(), order.begin() + k, [&](std::int32_t j) {
    return selected[static_cast<std::size_t>(j)];
  });
  return static_cast<double>(found) / static_cast<double>(k);
}

Diagnostic recall_figure(const Diagnosis& of, Run& run) {
  SelectedRecall recall = selected_recall(of.approximate, of.exact, run);
  return {.id = selected_recall_id,
          .label = "Recall of selected keys",
          .value = recall.share.value,
          .meaning =
              "The share of the top keys that a query selects; there are as many top keys, "
              "by exact weight, as it selects. Mean over rows.",
          .sampled = recall.sampled,
          .standard_error = recall.share.standard_error,
          .rows = std::move(recall.rows)};
}

}  // namespace

SelectedRecall selected_recall(const Operator& approximate, const Operator& exact, Run& run,
                               double max_entries, std::uint64_t seed) {
  const Plan& plan = approximate.plan();
  const Support support(plan);
  const IndexRange all{0, plan.keys()};
  const RowBands rows = row_bands(plan.lengths, max_entries, seed);
  std::vector<double> recall;
  std::vector<float> of_all(static_cast<std::size_t>(plan.queries()),
                            std::numeric_limits<float>::quiet_NaN());
  Run quiet = run.quiet();  // progress counts rows
  for (const IndexRange& band : rows.bands) {
    run.check();
    const Matrix p = exact.tile(band, all, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      std::vector<bool> selected(static_cast<std::size_t>(plan.keys()));
      support.for_parts(i, all, [&](const Support::Part& part) {
        std::fill_n(selected.begin() + part.keys.begin, part.keys.size(), true);
      });
      recall.push_back(recall_of_row(p.row(i - band.begin), plan.keys(), selected));
      of_all[static_cast<std::size_t>(i)] = static_cast<float>(recall.back());
    }
    run.reached(static_cast<double>(recall.size()) / static_cast<double>(rows.rows));
  }
  return {mean_of(rows, recall), rows.sampled(), std::move(of_all)};
}

std::vector<Diagnostic> selection_figures(const Diagnosis& of, Run& run) {
  std::vector<Diagnostic> figures = key_set_figures(of, run);
  if (!figures.empty()) figures.push_back(recall_figure(of, run));
  return figures;
}

std::vector<Diagnostic> given_selection_figures(const Diagnosis& of, Run& run) {
  const auto* plan = of.approximate.plan().as<ImportedPlan>();
  if (!plan || !plan->kept || Support(of.approximate.plan()).complete(run.stop)) return {};
  return {recall_figure(of, run)};
}

}  // namespace fovea
