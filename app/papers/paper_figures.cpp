#include <algorithm>

#include "data/error.h"
#include "data/text.h"
#include "papers/paper_figure.h"

namespace fovea {

std::span<const PaperFigure> paper_figures() {
  static const std::vector<PaperFigure> figures{
      rank_map_figure(),          hierarchy_cost_figure(), sparse_pattern_figure(),
      summary_column_figure(),    arena_cost_figure(),     tree_time_figure(),
      leaf_distribution_figure(), gradient_norm_figure(),  exact_tree_figure(),
      sampled_sum_figure(),       column_spread_figure(),  column_growth_figure(),
      spectral_error_figure(),    heavy_entry_figure(),    hash_collision_figure(),
      running_time_figure(),      replaced_layer_figure()};
  return figures;
}

const PaperFigure& find_paper_figure(const std::string& id) {
  const auto figures = paper_figures();
  const auto found = std::ranges::find(figures, id, &PaperFigure::id);
  if (found != figures.end()) return *found;
  throw UsageError("there is no figure '" + id + "'; expected one of " +
                   join(figures, &PaperFigure::id) + "; `fovea paper list` describes them");
}

}  // namespace fovea
