#include "backend/entry_tiles.h"

#include <algorithm>
#include <limits>

#include "data/larger.h"
#include "data/pixels.h"

namespace fovea {
namespace {

constexpr Index rows_at_once = 128;

/// Pixels [first, last) of a row of an even grid over `cols`.
struct Piece {
  IndexRange cols;
  Index across = 0;  // pixels of the whole row
  Index first = 0, last = 0;

  Index begin(Index pixel) const { return pixel_begin(pixel, cols.size(), across); }
  IndexRange columns() const { return {cols.begin + begin(first), cols.begin + begin(last)}; }
};

IndexRange queries_of(Index pixel, IndexRange rows, const Pool& pool) {
  if (!pool.one_row) return pixel_tokens(pixel, rows, pool.rows);
  const Index drawn = drawn_row(rows, pool, pixel);
  return {drawn, drawn + 1};
}

void pool_row(IndexRange queries, const Piece& piece, const Pool& pool, const RowEntries& entries,
              Index pixel, Matrix& into, Run& run) {
  float* const out = into.row(pixel);
  const Index offset = piece.begin(piece.first);
  std::vector<double> sum(piece.last - piece.first);
  std::fill(out + piece.first, out + piece.last, -std::numeric_limits<float>::infinity());
  for (Index begin = queries.begin; begin < queries.end; begin += rows_at_once) {
    run.check();
    const Matrix p = entries({begin, std::min(begin + rows_at_once, queries.end)});
    for (Index r = 0; r < p.rows(); ++r)
      for (Index c = piece.first; c < piece.last; ++c)
        for (Index j = piece.begin(c); j < piece.begin(c + 1); ++j) {
          sum[c - piece.first] += static_cast<double>(p(r, j - offset));
          out[c] = larger_or_nan(out[c], p(r, j - offset));
        }
  }
  if (pool.kind == Pool::Kind::max) return;
  if (pool.largest)
    std::copy(out + piece.first, out + piece.last, pool.largest->row(pixel) + piece.first);
  for (Index c = piece.first; c < piece.last; ++c)
    out[c] = static_cast<float>(
        sum[c - piece.first] /
        static_cast<double>(queries.size() * (piece.begin(c + 1) - piece.begin(c))));
}

}  // namespace

Matrix tile_of_entries(IndexRange rows, IndexRange cols, const Pool& pool, Index most_columns,
                       const ColumnEntries& entries, Run& run) {
  Matrix out(pool.rows, pool.cols);
  if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
  Piece piece{.cols = cols, .across = pool.cols};
  for (; piece.first < pool.cols; piece.first = piece.last) {
    run.check();
    piece.last = piece.first + 1;
    while (piece.last < pool.cols &&
           piece.begin(piece.last + 1) - piece.begin(piece.first) <= most_columns)
      ++piece.last;
    const RowEntries of_rows = entries(piece.columns());
    if (pool.kind == Pool::Kind::none) {
      const Matrix p = of_rows(rows);
      for (Index r = 0; r < rows.size(); ++r)
        std::copy_n(p.row(r), p.cols(), out.row(r) + piece.first);
    }
    for (Index pixel = 0; pool.kind != Pool::Kind::none && pixel < pool.rows; ++pixel)
      pool_row(queries_of(pixel, rows, pool), piece, pool, of_rows, pixel, out, run);
    run.reached(static_cast<double>(piece.last) / static_cast<double>(pool.cols));
  }
  return out;
}

Matrix tile_of_entries(IndexRange rows, IndexRange cols, const Pool& pool,
                       const std::function<Matrix(IndexRange rows, IndexRange cols)>& entries,
                       Run& run) {
  const ColumnEntries of_columns = [&](IndexRange some) -> RowEntries {
    return [&entries, some](IndexRange queries) { return entries(queries, some); };
  };
  return tile_of_entries(rows, cols, pool, cols.size(), of_columns, run);
}

}  // namespace fovea
