// The pairs that query tiles and groups of a TileList go through, to compare one with another.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <tuple>

#include "laws/cases.h"
#include "reference.h"
#include "tiles/tile_list.h"

namespace fovea::test {

/// How often each pair comes: the order of the queries, a position in it, the base and the order of
/// the keys, a position in that, and where its weight is.
using Pairs = std::map<std::tuple<Index, Index, Index, Index, Index, Index>, int>;

/// Adds the pairs of rows at positions [first, last) and the keys of a run. Where both are in
/// sequence order, they are those of its band.
inline void add_pairs(std::int32_t order, Index first, Index last, const cuda::ColumnRun& run,
                      Pairs& pairs) {
  for (Index key = run.begin; key < run.end; ++key)
    for (Index row = std::max<Index>(first, run.first_row);
         row < std::min<Index>(last, run.last_row); ++row) {
      const bool banded = order < 0 && run.cols < 0;
      if (!banded || (row - key >= run.lo && row - key <= run.hi))
        ++pairs[{order, row, run.key_base, run.cols, key, run.weight}];
    }
}

inline void add_pairs(const cuda::QueryTile& tile, const std::vector<cuda::ColumnRun>& runs,
                      Pairs& pairs) {
  for (std::int32_t r = tile.first_run; r < tile.last_run; ++r)
    add_pairs(tile.rows, tile.first_row, tile.first_row + tile.row_count, runs[r], pairs);
}

/// use(TileList) for every case of a variant that has one.
template <class Use>
void for_each_tile_list(const Backend& cpu, Use use) {
  for (const Case& c : all_cases())
    for (const bool causal : masks_of(c)) {
      CAPTURE(describe(c));
      CAPTURE(causal);
      const Problem problem = make_data(Data::gaussian, 300, 4, 3, causal, c.head);
      const auto plan = make_plan(cpu, problem, c.id, c.settings);
      if (std::holds_alternative<TilePlan>(plan->form)) use(cuda::tile_list(*plan));
    }
}

}  // namespace fovea::test
