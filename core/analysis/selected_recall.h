// The selected recall tells how well keys were selected: what share of as many keys of the largest
// exact weights is among them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/metrics.h"
#include "analysis/row_bands.h"

namespace fovea {

struct SelectedRecall {
  Estimate share;  // the mean
  /// The same for the oracle: as many blocks of the largest exact mass as each query selects.
  /// Absent if the plan does not select blocks of keys for each query.
  std::optional<Estimate> oracle;
  bool sampled = false;     // not all rows were used
  std::vector<float> rows;  // [queries] each row's own; NaN: not used
};

/// With S_i the keys that query i attends in the approximation, and top_k(P_i) as in top_recall.h:
/// the mean over rows i of |S_i ∩ top_k(P_i)| / k, where k is |S_i|, or the number of positive
/// weights of P_i if that is smaller. A row in which k is 0 counts as 1. Rows are sampled as in
/// level_mass. Throws Cancelled.
SelectedRecall selected_recall(const Operator& approximate, const Operator& exact, Run& run,
                               double max_entries = most_read_entries, std::uint64_t seed = 0);

/// The id of the selected recall among the figures.
inline constexpr const char* selected_recall_id = "selected_recall";

/// The figures of a selector: those of its sets of keys, the selected recall, and that of the
/// oracle; empty if every query attends every key.
std::vector<Diagnostic> selection_figures(const Diagnosis& of, Run& run);

/// The selected recall of an imported result whose pairs are known; empty if they are all pairs.
std::vector<Diagnostic> given_selection_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
