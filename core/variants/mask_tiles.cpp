#include "variants/mask_tiles.h"

#include <algorithm>
#include <vector>

#include "data/blocks.h"

namespace fovea {
namespace {

/// A run goes on over a gap of at most this many keys: the pairs in the gap take less time than
/// another tile would, and all tiles together take less memory than the mask.
constexpr Index largest_gap = 8;

constexpr Index strip = 64;  // rows of a tile: as many as fill the loops of the back ends
/// Up to this many neighbouring strips are one tile if that adds at most an eighth of their pairs.
/// A key is then read once for all of them.
constexpr Index strips_of_tall = 3;
constexpr Index most_tiles = Index{1} << 19;

using KeyBits = std::vector<std::uint32_t>;

/// A bit for each key that some of the queries attend.
KeyBits attended_by(const BitRows& pairs, IndexRange queries) {
  KeyBits attended(static_cast<std::size_t>(pairs.stride()));
  for (Index i = queries.begin; i < queries.end; ++i) {
    const std::uint32_t* row = pairs.row(i);
    for (std::size_t w = 0; w < attended.size(); ++w) attended[w] |= row[w];
  }
  return attended;
}

std::vector<IndexRange> some_runs_of(const KeyBits& keys, Index most_runs) {
  for (Index gap = largest_gap;; gap *= 2) {
    std::vector<IndexRange> runs = runs_of_bits(keys.data(), std::ssize(keys), gap);
    if (std::ssize(runs) <= most_runs) return runs;
  }
}

/// The tiles of some queries.
class TileMaker {
 public:
  TileMaker(const BitRows& pairs, const Band& band, Index most_runs)
      : pairs_(pairs), band_(band), most_runs_(most_runs) {}

  std::vector<Tile> make(IndexRange queries) const {
    std::vector<Tile> tiles;
    std::vector<KeyBits> of_strip;
    KeyBits all(static_cast<std::size_t>(pairs_.stride()));
    double in_strips = 0;
    for (Index begin = queries.begin; begin < queries.end; begin += strip) {
      const IndexRange rows{begin, std::min(begin + strip, queries.end)};
      of_strip.push_back(attended_by(pairs_, rows));
      in_strips += pairs_of(rows, of_strip.back());
      for (std::size_t w = 0; w < all.size(); ++w) all[w] |= of_strip.back()[w];
    }
    if (pairs_of(queries, all) <= in_strips * 1.125) {
      add(queries, all, most_runs_ * std::ssize(of_strip), tiles);
      return tiles;
    }
    for (std::size_t s = 0; s < of_strip.size(); ++s) {
      const Index begin = queries.begin + static_cast<Index>(s) * strip;
      add({begin, std::min(begin + strip, queries.end)}, of_strip[s], most_runs_, tiles);
    }
    return tiles;
  }

 private:
  double pairs_of(IndexRange rows, const KeyBits& keys) const {
    return static_cast<double>(rows.size() * count_bits(keys.data(), {0, pairs_.cols()}));
  }

  void add(IndexRange rows, const KeyBits& keys, Index most_runs, std::vector<Tile>& tiles) const {
    for (const IndexRange& run : some_runs_of(keys, most_runs)) tiles.push_back({rows, run, band_});
  }

  const BitRows& pairs_;
  const Band& band_;
  Index most_runs_;
};

}  // namespace

Pass tiles_of_mask(const BitRows& pairs, const Band& band, const Planning& planning) {
  constexpr Index tall = strips_of_tall * strip;
  const Index turns = number_of_blocks(pairs.rows(), tall),
              strips = std::max<Index>(1, number_of_blocks(pairs.rows(), strip));
  const TileMaker maker(pairs, band, std::max<Index>(1, most_tiles / strips));
  std::vector<std::vector<Tile>> tiles(static_cast<std::size_t>(turns));
  planning.backend.share_out(turns, planning.run, [&](Index turn) {
    tiles[static_cast<std::size_t>(turn)] =
        maker.make({turn * tall, std::min((turn + 1) * tall, pairs.rows())});
  });
  Pass pass{.unit = "strip"};
  std::size_t count = 0;
  for (const std::vector<Tile>& some : tiles) count += some.size();
  pass.tiles.reserve(count);
  for (const std::vector<Tile>& some : tiles)
    pass.tiles.insert(pass.tiles.end(), some.begin(), some.end());
  return pass;
}

}  // namespace fovea
