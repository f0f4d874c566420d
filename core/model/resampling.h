// Resampling to another size, along one axis: each result is a weighted sum of a few neighbours.
#pragma once

#include <stop_token>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// `bilinear` and `bicubic` (a = -1/2) widen where the size shrinks, as Pillow has them.
/// `bicubic_points` (a = -3/4) reads four neighbours whatever the size, and repeats those at the
/// ends, as PyTorch's interpolate has it without antialiasing.
enum class Resampling { bilinear, bicubic, bicubic_points };

/// The neighbours [first, first + weights.size()) of one result.
struct Taps {
  Index first = 0;
  std::vector<double> weights;  // their sum is 1
};

/// The taps of the results `wanted` of [0, to) from [0, from).
std::vector<Taps> resampling_taps(Index from, Index to, IndexRange wanted, Resampling kind);

/// Resamples a grid, whose places are the rows of `grid` [rows * cols, width], to another size.
/// Throws Cancelled.
Matrix resample_grid(MatrixView grid, Index rows, Index cols, Index to_rows, Index to_cols,
                     Resampling kind, const std::stop_token& stop);

}  // namespace fovea
