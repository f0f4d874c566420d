#include "variants/last_queries.h"

#include <algorithm>
#include <cstdlib>

namespace fovea {
namespace {

/// Row positions from which on queries are kept, in rows that are in an order.
struct Kept {
  std::vector<std::int32_t> rows;
  std::vector<Index> before;  // [positions + 1] rows kept before each position
};

Kept kept_rows(const std::vector<std::int32_t>& rows, Index offset) {
  Kept kept{.rows = {}, .before = {0}};
  for (const std::int32_t row : rows) {
    if (row >= offset) kept.rows.push_back(static_cast<std::int32_t>(row - offset));
    kept.before.push_back(std::ssize(kept.rows));
  }
  return kept;
}

Index shifted(Index bound, Index offset) {
  return std::abs(bound) == Band::unbounded ? bound : bound - offset;
}

void cut(Pass& pass, Index offset) {
  const bool in_sequence = pass.rows.empty();
  Kept kept = kept_rows(pass.rows, offset);
  const auto moved = [&](Index position) {
    return in_sequence ? std::max<Index>(0, position - offset)
                       : kept.before[static_cast<std::size_t>(position)];
  };
  for (Tile& tile : pass.tiles) {
    tile.rows = {moved(tile.rows.begin), moved(tile.rows.end)};
    tile.band = {shifted(tile.band.lo, offset), shifted(tile.band.hi, offset)};
  }
  std::erase_if(pass.tiles, [](const Tile& tile) { return tile.rows.size() <= 0; });
  pass.rows = std::move(kept.rows);
}

}  // namespace

Problem with_all_queries(const Problem& problem) {
  Problem all = problem;
  all.q = problem.k;
  all.mask = nullptr;
  all.rule = nullptr;
  return all;
}

void keep_last_queries(Plan& plan, Index queries) {
  const Index offset = plan.keys() - queries;
  auto& passes = std::get<TilePlan>(plan.form).passes;
  for (Pass& pass : passes) cut(pass, offset);
  std::erase_if(passes, [](const Pass& pass) { return pass.tiles.empty(); });
  plan.lengths.queries = queries;
}

}  // namespace fovea
