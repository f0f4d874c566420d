#include "plan/flat_tiles.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

void add_groups(FlatPass& flat) {
  for (const Tile& tile : flat.pass->tiles) {
    if (tile.rows.size() <= 0 || tile.cols.size() <= 0) continue;
    if (flat.groups.empty() || flat.groups.back().rows != tile.rows)
      flat.groups.push_back({tile.rows, flat.runs.size(), flat.runs.size()});
    flat.runs.push_back({tile.cols, tile.band});
    ++flat.groups.back().last;
  }
  std::ranges::sort(flat.groups, {}, [](const TileGroup& g) { return g.rows.begin; });
}

void add_weights(FlatPass& flat, Index keys) {
  const Pass& pass = *flat.pass;
  if (pass.weight.empty() && pass.key_level == 0) return;
  const Index count = pass.cols.empty() ? clusters(keys, pass.key_level) : std::ssize(pass.cols);
  flat.log2_weight.reserve(count);
  if (!pass.weight.empty()) flat.log2_pair_weight.reserve(count);
  for (Index p = 0; p < count; ++p) {
    const auto tokens =
        static_cast<float>(cluster_tokens(flat.col(p), pass.key_level, keys).size());
    const float weight = pass.weight.empty() ? tokens : pass.weight[p];
    flat.log2_weight.push_back(std::log2(weight));
    if (!pass.weight.empty()) flat.log2_pair_weight.push_back(std::log2(weight / tokens));
  }
}

}  // namespace

bool FlatTiles::dense() const {
  if (passes.size() != 1 || query_top > 0 || key_top > 0 || !own_sums) return false;
  const FlatPass& flat = passes.front();
  return flat.pass->rows.empty() && flat.pass->cols.empty() && flat.pass->weight.empty() &&
         flat.runs.size() == 1 && flat.groups.front().rows == IndexRange{0, lengths.queries} &&
         flat.runs.front().cols == IndexRange{0, lengths.keys};
}

FlatTiles flatten_tiles(const Plan& plan) {
  const auto& tiles = std::get<TilePlan>(plan.form);
  FlatTiles flat{.lengths = plan.lengths,
                 .mean_queries = tiles.coarse_query == CoarseQuery::mean,
                 .own_sums = tiles.row_estimates.empty()};
  for (const Pass& pass : tiles.passes) {
    flat.query_top = std::max(flat.query_top, pass.query_level);
    flat.key_top = std::max(flat.key_top, pass.key_level);
    FlatPass& added = flat.passes.emplace_back(FlatPass{.pass = &pass});
    add_groups(added);
    add_weights(added, plan.keys());
  }
  return flat;
}

}  // namespace fovea
