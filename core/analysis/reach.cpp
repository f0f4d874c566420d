#include "analysis/reach.h"

#include <algorithm>
#include <numeric>

#include "analysis/row_bands.h"
#include "data/error.h"

namespace fovea {
namespace {

/// Numbers of paths that arrive at the column positions of a pass, as differences of adjacent
/// positions.
using Arrivals = std::vector<std::int32_t>;

/// Adds the last hop of all paths through `key`.
void leave_from(Index key, const Support::Layer& layer, Index n, Arrivals& arrivals) {
  const auto* group = layer.group_of(key);
  if (!group) return;
  const auto arrive = [&](IndexRange positions) {
    ++arrivals[positions.begin];
    --arrivals[positions.end];
  };
  for (std::size_t t = group->first; t < group->last; ++t) {
    const Tile& tile = layer.pass->tiles[t];
    const bool banded = is_banded(*layer.pass, tile), whole = layer.pass->earlier.empty();
    if (!banded && whole) {
      arrive(tile.cols);
      continue;
    }
    IndexRange band{0, n}, near = tile.cols;
    if (banded) {
      band = {std::max<Index>(0, key - tile.band.hi), std::min(n, key - tile.band.lo + 1)};
      if (band.size() <= 0) continue;
      near = layer.cols.near(tile.cols, band);
    }
    if (near.size() <= 0) continue;
    if (whole && layer.cols.ascending(tile.cols)) {
      arrive(near);
      continue;
    }
    for (Index p = near.begin; p < near.end; ++p) {
      const Index j = layer.cols.cluster(p);
      if ((!banded || band.contains(j)) && !layer.pass->leaves_out(key, j)) arrive({p, p + 1});
    }
  }
}

}  // namespace

/// Under a mask positions in a row are not reached together, so the keys of each key are counted.
std::vector<std::int32_t> TwoHops::paths_under_mask(Index query) const {
  const Index n = support_.plan().lengths.n();
  Arrivals arrivals(static_cast<std::size_t>(n) + 1);
  support_.for_parts(query, {0, n}, [&](const Support::Part& first) {
    for (Index k = first.keys.begin; k < first.keys.end; ++k)
      support_.for_parts(k, {0, n}, [&](const Support::Part& second) {
        ++arrivals[second.keys.begin];
        --arrivals[second.keys.end];
      });
  });
  arrivals.pop_back();
  std::partial_sum(arrivals.begin(), arrivals.end(), arrivals.begin());
  return arrivals;
}

std::vector<std::int32_t> TwoHops::paths_from(Index query) const {
  if (support_.plan().mask) return paths_under_mask(query);
  const Index n = support_.plan().lengths.n();
  const auto& layers = support_.layers();
  std::vector<Arrivals> arrivals;
  for (const auto& layer : layers)
    arrivals.emplace_back(static_cast<std::size_t>(layer.cols.size()) + 1);
  support_.for_parts(query, {0, n}, [&](const Support::Part& first) {
    for (Index k = first.keys.begin; k < first.keys.end; ++k)
      for (std::size_t l = 0; l < layers.size(); ++l) leave_from(k, layers[l], n, arrivals[l]);
  });
  std::vector<std::int32_t> paths(n);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::int32_t here = 0;
    for (Index p = 0; p < layers[l].cols.size(); ++p) {
      here += arrivals[l][p];
      if (here == 0) continue;
      const IndexRange keys = layers[l].cols.tokens(p);
      for (Index j = keys.begin; j < keys.end; ++j) paths[j] += here;
    }
  }
  return paths;
}

Index TwoHops::reached(Index query, const std::vector<std::int32_t>& paths, IndexRange keys) const {
  Index count = 0;
  for (Index j = keys.begin; j < keys.end; ++j)
    count += paths[j] > 0 && is_admissible(support_.plan(), query, j);
  return count;
}

bool TwoHops::one_is_enough(const std::stop_token& stop) const {
  const Plan& plan = support_.plan();
  for (Index i = 0; i < plan.queries(); ++i) {
    if (stop.stop_requested()) throw Cancelled();
    if (support_.count(i) < admissible_keys(plan, i)) return false;
  }
  return true;
}

Reach two_hop_reach(const Plan& plan, std::stop_token stop, Index max_rows, std::uint64_t seed) {
  const TwoHops hops(plan);
  const RowBands rows = row_bands(
      plan.lengths, static_cast<double>(max_rows) * static_cast<double>(plan.keys()), seed);
  std::vector<double> reached, admissible;  // a number a row
  for (const IndexRange& band : rows.bands)
    for (Index i = band.begin; i < band.end; ++i) {
      if (stop.stop_requested()) throw Cancelled();
      const auto paths = hops.paths_from(i);
      reached.push_back(hops.reached(i, paths, {0, plan.keys()}));
      admissible.push_back(admissible_keys(plan, i));
    }
  return {ratio_of_sums(rows, reached, admissible), rows.sampled() ? rows.rows : 0};
}

}  // namespace fovea
