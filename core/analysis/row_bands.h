// RowBands are the rows of P that an analysis reads: all of them in bands, or a uniform sample.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "data/lengths.h"
#include "data/matrix.h"

namespace fovea {

struct RowBands {
  std::vector<IndexRange> bands;  // ascending, disjoint; single rows when sampled
  Index rows = 0;                 // in all bands together
  Index queries = 0;

  bool sampled() const { return rows < queries; }
  /// Variance of a mean over a sample without replacement, relative to one with replacement.
  double population_correction() const {
    return 1.0 - static_cast<double>(rows) / static_cast<double>(queries);
  }
};

/// All rows while they have at most `max_entries` entries, else as many as do (at least 16), drawn
/// without replacement. A band times its keys stays under four million entries.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed);

}  // namespace fovea
