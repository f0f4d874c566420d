#include "analysis/missing_keys.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "analysis/rounding_budget.h"
#include "backend/operator.h"
#include "data/attended_row.h"
#include "data/blocks.h"

namespace fovea {
namespace {

constexpr Index least_side = 16, most_side = 256;

/// A row of the softmax, and what each least tile of keys adds to it.
class RowOfTiles {
 public:
  RowOfTiles(const Problem& head, Index row) : all_(attend(head, row)) {
    for (Index begin = 0; begin < head.keys() && all_.any; begin += least_side) {
      AttendedRow tile = attend(head, row, {begin, std::min(head.keys(), begin + least_side)});
      tile.lse = tile.any ? std::exp(tile.lse - all_.lse) : 0;  // the tile's share of the row
      tiles_.push_back(std::move(tile));
    }
  }

  /// Tiles of `side` keys without which the row is `z`, ascending.
  std::vector<Index> missing(Index side, const float* z, const RoundingBudget& budget,
                             Index row) const {
    std::vector<Index> found;
    const Index of_tile = side / least_side;
    for (Index t = 0; t * of_tile < std::ssize(tiles_); ++t)
      if (fits({t * of_tile, std::min((t + 1) * of_tile, std::ssize(tiles_))}, z, budget, row))
        found.push_back(t);
    return found;
  }

 private:
  bool fits(IndexRange tiles, const float* z, const RoundingBudget& budget, Index row) const {
    bool any_left = false;
    for (Index t = 0; t < std::ssize(tiles_); ++t)
      any_left |= tiles_[static_cast<std::size_t>(t)].any && !tiles.contains(t);
    if (!any_left) return true;  // a row without keys may hold anything
    double rest = 1, spread = all_.spread, norm = 0, error = 0;
    std::vector<double> sum = all_.z;
    for (Index t = tiles.begin; t < tiles.end; ++t) {
      const AttendedRow& tile = tiles_[static_cast<std::size_t>(t)];
      rest -= tile.lse;
      spread -= tile.lse * tile.spread;
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] -= tile.lse * tile.z[c];
    }
    if (!(rest > 1e-6)) return false;  // differences would be rounded away
    for (std::size_t c = 0; c < sum.size(); ++c) {
      const double without = sum[c] / rest, apart = without - static_cast<double>(z[c]);
      norm += without * without;
      error += apart * apart;
    }
    return std::sqrt(error) <= budget(row, std::max(0.0, spread / rest), std::sqrt(norm));
  }

  AttendedRow all_;
  std::vector<AttendedRow> tiles_;  // `lse` is the share of the row
};

/// The numbers that both lists have; both ascend.
std::vector<Index> in_both(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

Index own_tile(const Lengths& lengths, Index query, Index side) {
  return (query + lengths.offset()) / side;
}

}  // namespace

IndexRange MissingKeys::of(const Lengths& lengths, Index query) const {
  const Index t = moves ? own_tile(lengths, query, side) - tile : tile;
  return IndexRange{t * side, (t + 1) * side}.intersected({0, lengths.keys});
}

std::string MissingKeys::text(const Lengths& lengths) const {
  if (!moves) {
    const IndexRange keys = of(lengths, 0);
    return "keys " + std::to_string(keys.begin) + " to " + std::to_string(keys.end - 1);
  }
  const std::string keys = "the " + std::to_string(side) + " keys ";
  if (tile == 0) return keys + "of each query's own tile";
  return keys + std::to_string(std::abs(tile)) + (std::abs(tile) == 1 ? " tile " : " tiles ") +
         (tile > 0 ? "before" : "after") + " each query's own";
}

std::optional<MissingKeys> missing_keys(const Problem& head, MatrixView z, ElementType type,
                                        std::span<const Index> rows, Run& run) {
  if (head.rule && head.rule->sink) return {};
  const RoundingBudget budget(head, type);
  constexpr Index most_rows = 24;
  std::vector<Index> some;
  for (const Index at : spread_rows(std::ssize(rows), most_rows))
    some.push_back(rows[static_cast<std::size_t>(at)]);
  std::vector<RowOfTiles> of_rows;
  for (const Index i : some) {
    run.check();
    of_rows.emplace_back(head, i);
  }
  for (Index side = least_side; side <= most_side; side *= 2) {
    std::vector<Index> fixed, moving;
    for (std::size_t r = 0; r < some.size(); ++r) {
      const Index i = some[r];
      const std::vector<Index> found = of_rows[r].missing(side, z.row(i), budget, i);
      std::vector<Index> before;
      for (auto t = found.rbegin(); t != found.rend(); ++t)
        before.push_back(own_tile(head.lengths(), i, side) - *t);
      fixed = r == 0 ? found : in_both(fixed, found);
      moving = r == 0 ? before : in_both(moving, before);
    }
    if (!fixed.empty()) return MissingKeys{side, fixed.front(), false};
    if (!moving.empty()) return MissingKeys{side, moving.front(), true};
  }
  return {};
}

}  // namespace fovea
