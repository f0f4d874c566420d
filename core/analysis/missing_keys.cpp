#include "analysis/missing_keys.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

#include "analysis/rounding_budget.h"
#include "backend/operator.h"
#include "data/attended_row.h"
#include "data/blocks.h"
#include "data/memory.h"

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
      with_keys_ += tile.any;
      tiles_.push_back(std::move(tile));
    }
  }

  /// Tiles of keys, ascending.
  struct Missing {
    std::vector<Index> possible;  // without them the row is z, or has no keys and may hold anything
    std::vector<Index> shown;     // without them the row is z
  };
  Missing missing(Index side, const float* z, const RoundingBudget& budget, Index row) const {
    Missing found;
    const Index of_tile = side / least_side;
    for (Index t = 0; t * of_tile < std::ssize(tiles_); ++t) {
      const IndexRange tiles{t * of_tile, std::min((t + 1) * of_tile, std::ssize(tiles_))};
      const bool has_keys = keys_without(tiles) > 0;
      if (has_keys && !fits(tiles, z, budget, row)) continue;
      found.possible.push_back(t);
      if (has_keys) found.shown.push_back(t);
    }
    return found;
  }

 private:
  /// Least tiles that have keys of the row, without some.
  Index keys_without(IndexRange tiles) const {
    Index left = with_keys_;
    for (Index t = tiles.begin; t < tiles.end; ++t) left -= tiles_[t].any;
    return left;
  }

  bool fits(IndexRange tiles, const float* z, const RoundingBudget& budget, Index row) const {
    double rest = 1, spread = all_.spread, norm = 0, error = 0;
    std::vector<double> sum = all_.z;
    for (Index t = tiles.begin; t < tiles.end; ++t) {
      const AttendedRow& tile = tiles_[t];
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
  Index with_keys_ = 0;             // tiles
};

/// The numbers that both lists have; both ascend.
std::vector<Index> in_both(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

Index own_tile(const Lengths& lengths, Index query, Index side) {
  const Index key = query + lengths.offset();
  return (key < 0 ? key - side + 1 : key) / side;
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
  for (const Index at : spread_rows(std::ssize(rows), most_rows)) some.push_back(rows[at]);
  require_memory(sizeof(double) * static_cast<double>(std::ssize(some) * head.dv()) *
                     static_cast<double>(number_of_blocks(head.keys(), least_side)),
                 "tiles of keys of " + head.lengths().text());
  std::vector<RowOfTiles> of_rows;
  for (const Index i : some) {
    run.check();
    of_rows.emplace_back(head, i);
  }
  for (Index side = least_side; side <= most_side; side *= 2) {
    std::vector<Index> fixed, moving;
    std::set<Index> shown_fixed, shown_moving;
    for (std::size_t r = 0; r < some.size(); ++r) {
      run.check();
      const Index i = some[r], own = own_tile(head.lengths(), i, side);
      const auto [possible, shown] = of_rows[r].missing(side, z.row(i), budget, i);
      std::vector<Index> before;
      for (auto t = possible.rbegin(); t != possible.rend(); ++t) before.push_back(own - *t);
      fixed = r == 0 ? possible : in_both(fixed, possible);
      moving = r == 0 ? before : in_both(moving, before);
      for (const Index t : shown) {
        shown_fixed.insert(t);
        shown_moving.insert(own - t);
      }
    }
    for (const Index t : fixed)
      if (shown_fixed.contains(t)) return MissingKeys{side, t, false};
    for (const Index t : moving)
      if (shown_moving.contains(t)) return MissingKeys{side, t, true};
  }
  return {};
}

}  // namespace fovea
