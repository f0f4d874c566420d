// RowBands are the rows of P that an analysis reads: all of them in bands, or a sample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/lengths.h"
#include "data/matrix.h"

namespace fovea {

struct RowBands {
  std::vector<IndexRange> bands;  // ascending, disjoint; single rows when sampled
  Index rows = 0;                 // in all bands together
  Index queries = 0;
  std::vector<double> chances = {};  // [rows] that a sample has this row; empty: the same for all

  bool sampled() const { return rows < queries; }
  double chance(std::size_t which) const {
    return chances.empty() ? static_cast<double>(rows) / static_cast<double>(queries)
                           : chances[which];
  }
};

/// All rows while they have at most `max_entries` entries, else as many as do (at least 16), drawn
/// without replacement. A band times its keys stays under four million entries.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed);
/// The same, but of a sample half is drawn evenly, and half the more often the larger a row's size
/// [queries, not negative] is: few rows can have most of a sum, and a sample without them would be
/// sure of a wrong one. Rows whose share is large enough are always there.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed,
                   std::span<const double> sizes);

}  // namespace fovea
