// Tile errors say which tiles of queries and keys make the output of a column wrong: a kernel works
// tile by tile, and a mistake in one of them is a mistake of its queries and keys alone.
#pragma once

#include <string>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/row_bands.h"

namespace fovea {

enum class TileQuestion {
  cause,  // which tile is wrong
  share   // what each tile adds to the error of z
};

/// How the errors of tiles were found.
enum class TileMeasure {
  /// What a tile adds to the error: the sum over its keys of p~ v~ - p v.
  share,
  /// The same, each row of P~ times the number that makes most of its weight equal to P: a tile
  /// that was left out makes the weights of all others larger, but not wrong.
  scaled,
  /// The part of the error of a given z that is explained if all weights of the tile are multiplied
  /// by one number, 0 if it was left out. As few tiles of the same queries as explain most of the
  /// error have a part of it; where no few tiles do, all of them have the whole error.
  explained,
  /// Weights are not known: all tiles of some queries have the error of their z.
  rows
};

/// Where the largest error lies. Errors of a given z count if rounding does not explain them.
struct WorstTile {
  IndexRange queries, keys;
  double error = 0;      // as in TileErrors::errors; 0: there is none; infinite: z is not finite
  double explained = 0;  // TileMeasure::explained: share of the squared error, by all such tiles
  double factor = 1;     // and what the weights of this one are multiplied by
  Index others = 0;      // of these tiles
};

struct TileErrors {
  /// Tiles that explain less of the squared error are not what is wrong.
  static constexpr double mostly = 0.9;

  TileMeasure measure = TileMeasure::share;
  bool against_own = false;  // against what the file's own pairs or weights give, else exact
  /// [down, across] the largest error of the tiles that a pixel touches: norms over the queries of
  /// a tile, over the norm of the z that they should have. NaN if a row that was read is not
  /// finite.
  Matrix errors;
  std::vector<float> of_queries;  // [rows] |z~ - z|; NaN: not known or not finite
  Index rows = 0, rows_read = 0;  // in rows of tiles that are in view
  WorstTile worst;                // of the tiles in view
  /// Rows of tiles that are wrong: of a given z, those with a row that rounding does not explain;
  /// else those with a tile of at least half the largest error.
  std::vector<Index> wrong_bands;
  Index bands = 0;        // of the head
  bool all_bands = true;  // those in view were read; else some stand for their neighbours
};

struct TileView {
  Lengths tile;           // queries and keys of a tile
  IndexRange rows, cols;  // tokens
  Index down = 0, across = 0;
};

/// Reads whole rows of P; a sample of them beyond `max_entries`, in which the worst row of each row
/// of tiles always is, and if there are more rows of tiles than that, of several. Both have values
/// and are applied. Memory: some rows of P. Throws Cancelled.
TileErrors tile_errors(const Diagnosis& of, TileQuestion question, const TileView& view, Run& run,
                       double max_entries = most_read_entries);

}  // namespace fovea
