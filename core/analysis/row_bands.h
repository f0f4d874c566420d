// RowBands are the rows of P that an analysis reads: all of them in bands, or a sample.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/lengths.h"
#include "data/matrix.h"

namespace fovea {

struct Run;

/// Reads some rows of P, all their keys: [rows.size(), keys].
using ReadRows = std::function<Matrix(IndexRange rows, Run& run)>;

struct RowBands {
  std::vector<IndexRange> bands;  // ascending, disjoint; single rows when sampled
  Index rows = 0;                 // in all bands together
  Index queries = 0;
  std::vector<double> chances =
      {};  // [rows] of each row that is read; empty means the same for all

  bool sampled() const { return rows < queries; }
  /// The chance of the k-th row that is read to be in a sample, in (0, 1].
  double chance(std::size_t k) const {
    return chances.empty() ? static_cast<double>(rows) / static_cast<double>(queries) : chances[k];
  }
};

/// An analysis reads a sample of rows if P has more entries than this. A head of 8192 tokens is
/// read whole.
inline constexpr double most_read_entries = 8192.0 * 8192.0;

/// All rows if they have at most `max_entries` entries, else as many rows as have (at least 16),
/// drawn without replacement and with the same chance. A band has fewer than four million entries.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed);
/// Draws rows with larger sizes [queries] (0 or more) with larger chances: a few rows can have most
/// of a sum, and a sample without them would say nothing about it. Half of the sample is drawn
/// without regard to size, so that no chance is less than half of what it is with equal sizes.
/// Sizes that are all 0, or not finite, count as equal.
RowBands row_bands(Lengths lengths, double max_entries, std::uint64_t seed,
                   std::span<const double> sizes);

}  // namespace fovea
