// entries writes entries of P to a grid of pixels: single entries, their maxima or their sums.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "tiles/attend_args.h"
#include "tiles/exact_sums.h"

namespace fovea::cuda {

/// The rectangle and its grid: pixel r covers rows [r R / rows, (r + 1) R / rows) of it.
struct PixelGrid {
  std::int32_t row_begin = 0, row_count = 0, col_begin = 0, col_count = 0;  // tokens
  std::int32_t rows = 0, cols = 0;                                          // pixels
};

enum class Deposit { entry, maximum, sum };

struct EntriesArgs {
  /// Query tiles of single tokens, even where their query is that of a cluster: row query_base +
  /// ((token >> query_level) << query_shift) of q. Their orders are in `tokens`.
  QueryTiles queries;
  Fp32Operands operands;  // without V
  int d = 0;              // columns of Q and K
  const std::int32_t* tokens = nullptr;
  const std::int32_t* query_level = nullptr;  // [query tiles]
  const float* log2_sum = nullptr;            // [nq]
  Index keys = 0;
  PixelGrid grid;
  /// The tokens, ascending, each of which stands for one pixel row; none means all rows of the
  /// grid.
  const std::int32_t* drawn = nullptr;
  int drawn_count = 0;
  Deposit deposit = Deposit::entry;
  float* pixels = nullptr;  // [grid.rows, stride]; only pairs with weight are written
  ExactWords sums;          // of the pixels; `pixels` takes the terms that are not finite
  Index stride = 0;
};

/// Rows of a query tile.
inline constexpr int entries_height = 64;
/// Blocks on a multiprocessor. Where shared memory is for fewer, they are a power of two, too.
inline constexpr int entries_at_once = 4;

void entries(const EntriesArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
