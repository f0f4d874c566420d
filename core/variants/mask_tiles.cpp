#include "variants/mask_tiles.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "data/stop.h"

namespace fovea {
namespace {

/// A run goes on over a gap of at most this many keys: the pairs in the gap take less time than
/// another tile would, and all tiles together take less memory than the mask.
constexpr Index largest_gap = 8;

/// Ascending runs of bits that are set.
std::vector<IndexRange> runs_of(const std::vector<std::uint32_t>& words) {
  std::vector<IndexRange> runs;
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::uint32_t bits = words[w]; bits != 0;) {
      const int first = std::countr_zero(bits), length = std::countr_one(bits >> first);
      const Index begin = static_cast<Index>(w) * BitMatrix::word_bits + first;
      if (!runs.empty() && begin - runs.back().end <= largest_gap)
        runs.back().end = begin + length;
      else
        runs.push_back({begin, begin + length});
      bits =
          first + length == BitMatrix::word_bits ? 0 : bits >> (first + length) << (first + length);
    }
  return runs;
}

}  // namespace

Pass tiles_of_mask(const BitMatrix& pairs, const Band& band, const std::stop_token& stop) {
  constexpr Index strip = 64;  // rows of a tile: as many as one strip of the back ends
  Pass pass{.unit = "strip"};
  std::vector<std::uint32_t> attended(static_cast<std::size_t>(pairs.stride()));
  for (Index begin = 0; begin < pairs.rows(); begin += strip) {
    check_stop(stop);
    const IndexRange rows{begin, std::min(begin + strip, pairs.rows())};
    std::ranges::fill(attended, 0u);
    for (Index i = rows.begin; i < rows.end; ++i)
      for (std::size_t w = 0; w < attended.size(); ++w) attended[w] |= pairs.row(i)[w];
    for (const IndexRange& keys : runs_of(attended)) pass.tiles.push_back({rows, keys, band});
  }
  return pass;
}

}  // namespace fovea
