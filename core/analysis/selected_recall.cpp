#include "analysis/selected_recall.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "analysis/key_sets.h"
#include "analysis/row_bands.h"
#include "analysis/support.h"
#include "data/blocks.h"

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
  const auto found =
      std::count_if(order.begin(), order.begin() + k, [&](std::int32_t j) { return selected[j]; });
  return static_cast<double>(found) / static_cast<double>(k);
}

/// Blocks of keys that each query selects.
struct QueryBlocks {
  std::span<const std::int32_t> selected;  // [queries, most] -1: none
  Index most = 0, size = 0;                // of a query; keys of a block

  Index count(Index query) const {
    return most - std::ranges::count(selected.subspan(query * most, most), -1);
  }
};

/// Nothing if the size of blocks is not known: each query selects the last block, which may be
/// shorter.
std::optional<QueryBlocks> query_blocks_of(const Plan& plan) {
  const auto* tiles = plan.as<TilePlan>();
  if (!tiles || !plan.structure.has("selected_blocks")) return {};
  const auto& selected = plan.structure.integers("selected_blocks");
  QueryBlocks blocks{selected, std::ssize(selected) / plan.queries(), 0};
  for (const Pass& pass : tiles->passes)
    for (const Tile& tile : pass.tiles)
      if (tile.cols.begin == 0 || tile.cols.end < plan.keys())
        blocks.size = std::max(blocks.size, tile.cols.size());
  return blocks.size > 0 ? std::optional(blocks) : std::nullopt;
}

/// Whether a key is in one of the `count` blocks of the largest exact mass that the query may
/// attend, the first among equal ones.
std::vector<bool> oracle_of_row(const Plan& plan, Index query, const float* weights,
                                const QueryBlocks& blocks) {
  std::vector<std::pair<double, Index>> masses;  // negative, for sorting
  const auto keys_of = [&](Index block) {
    return IndexRange{block * blocks.size, std::min(plan.keys(), (block + 1) * blocks.size)};
  };
  for (Index b = 0; b < number_of_blocks(plan.keys(), blocks.size); ++b) {
    const IndexRange keys = keys_of(b);
    if (admissible_keys(plan, query, keys) == 0) continue;
    double mass = 0;
    for (Index j = keys.begin; j < keys.end; ++j) mass += static_cast<double>(weights[j]);
    masses.emplace_back(-mass, b);
  }
  std::ranges::sort(masses);
  masses.resize(std::min(masses.size(), static_cast<std::size_t>(blocks.count(query))));
  std::vector<bool> selected(plan.keys());
  for (const auto& [mass, block] : masses)
    for (Index j = keys_of(block).begin; j < keys_of(block).end; ++j)
      if (is_admissible(plan, query, j)) selected[j] = true;
  return selected;
}

std::vector<Diagnostic> recall_figures(const Diagnosis& of, Run& run) {
  SelectedRecall recall = selected_recall(of.approximate, of.exact, run);
  std::vector<Diagnostic> figures{
      {.id = selected_recall_id,
       .label = "Recall of selected keys",
       .value = recall.share.value,
       .meaning = "The share of the top keys that a query selects; there are as many top keys, "
                  "by exact weight, as it selects. Mean over rows.",
       .sampled = recall.sampled,
       .standard_error = recall.share.standard_error,
       .rows = std::move(recall.rows)}};
  if (recall.oracle)
    figures.push_back({.id = "oracle_recall",
                       .label = "Recall of the oracle",
                       .value = recall.oracle->value,
                       .meaning =
                           "The same share if each query selects as many blocks of the largest "
                           "exact mass: no other choice of as many blocks keeps more mass.",
                       .sampled = recall.sampled,
                       .standard_error = recall.oracle->standard_error});
  return figures;
}

}  // namespace

SelectedRecall selected_recall(const Operator& approximate, const Operator& exact, Run& run,
                               double max_entries, std::uint64_t seed) {
  const Plan& plan = approximate.plan();
  const Support support(plan);
  const IndexRange all{0, plan.keys()};
  const RowBands rows = row_bands(plan.lengths, max_entries, seed);
  const std::optional<QueryBlocks> blocks = query_blocks_of(plan);
  std::vector<double> recall, of_oracle;
  std::vector<float> of_all(plan.queries(), std::numeric_limits<float>::quiet_NaN());
  Run quiet = run.quiet();  // progress counts rows
  for (const IndexRange& band : rows.bands) {
    run.check();
    const Matrix p = exact.tile(band, all, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      std::vector<bool> selected(plan.keys());
      support.for_parts(i, all, [&](const Support::Part& part) {
        std::fill_n(selected.begin() + part.keys.begin, part.keys.size(), true);
      });
      recall.push_back(recall_of_row(p.row(i - band.begin), plan.keys(), selected));
      of_all[i] = static_cast<float>(recall.back());
      if (!blocks) continue;
      const float* const row = p.row(i - band.begin);
      of_oracle.push_back(recall_of_row(row, plan.keys(), oracle_of_row(plan, i, row, *blocks)));
    }
    run.reached(static_cast<double>(recall.size()) / static_cast<double>(rows.rows));
  }
  SelectedRecall found{mean_of(rows, recall), {}, rows.sampled(), std::move(of_all)};
  if (blocks) found.oracle = mean_of(rows, of_oracle);
  return found;
}

std::vector<Diagnostic> selection_figures(const Diagnosis& of, Run& run) {
  std::vector<Diagnostic> figures = key_set_figures(of, run);
  if (figures.empty()) return {};
  for (Diagnostic& figure : recall_figures(of, run)) figures.push_back(std::move(figure));
  return figures;
}

std::vector<Diagnostic> given_selection_figures(const Diagnosis& of, Run& run) {
  const auto* plan = of.approximate.plan().as<ImportedPlan>();
  if (!plan || !plan->kept || Support(of.approximate.plan()).complete(run.stop)) return {};
  return recall_figures(of, run);
}

}  // namespace fovea
