// A MapPyramid is one matrix of a long head as a map: an overview of the whole, first estimated
// from a few rows, then exact, and finer tiles that are made when they come into view. Pixels are
// squares whose side is a power of two of tokens and which begin at multiples of it.
#pragma once

#include <atomic>
#include <functional>
#include <list>

#include "analysis/done_rows.h"
#include "backend/operator.h"

namespace fovea {

/// Reads rows x cols of a matrix, pooled to a grid of pixels, all of which are full.
using MapPixels = std::function<Matrix(IndexRange rows, IndexRange cols, Pool pool, Run& run)>;

/// Pixels of `pixel` tokens a side that cover a part of the matrix; the last may extend beyond its
/// end.
struct MapView {
  Index pixel = 1;                     // a power of two
  IndexRange rows, cols;               // of pixels: row r covers tokens [r pixel, (r + 1) pixel)
  Index focus_row = 0, focus_col = 0;  // token in focus: the nearest tiles come first
  friend bool operator==(const MapView&, const MapView&) = default;
};

/// The view of these tokens in about `most` pixels a side.
MapView map_view(IndexRange rows, IndexRange cols, Index most);

/// What is known of a view.
struct MapPicture {
  Matrix values;          // [view rows, view cols]; coarser pixels replace what is missing
  Matrix largest;         // of means, the largest entry of each pixel, the same shape; else empty
  Matrix standard_error;  // of estimated means, the same shape; empty if there are none
  bool complete = false;  // all pixels are exact and of the view's own size
  double estimated = 0;   // share of the pixel rows that are estimates
  bool rounded = false;   // some pixels are of logits whose factors were rounded to 16 bits
};

/// Used from one thread at a time, except for the functions that say otherwise.
class MapPyramid {
 public:
  static constexpr Index tile_side = 256;       // pixels
  static constexpr Index overview_side = 1024;  // pixels at most

  /// `kind`: max (of magnitude, with its sign) or mean. `side`: of the overview, pixels at most.
  MapPyramid(Index n, Pool::Kind kind, MapPixels pixels, Index side = overview_side);

  Index n() const { return n_; }
  Pool::Kind kind() const { return kind_; }
  Index overview_pixel() const { return pixel_; }
  Index overview_rows() const { return side_; }

  /// From any thread: a number that grows with every change, the share of the overview that is
  /// exact, and whether there is an overview of the whole.
  std::uint64_t version() const { return version_; }
  double exact_share() const { return exact_share_; }
  bool begun() const { return begun_; }

  /// Estimates the overview from `rows` rows of P, evenly spread, for each row of pixels. Exact
  /// rows are kept.
  void estimate(Index rows, std::uint64_t seed, Run& run);
  /// Estimates the next `most` rows of pixels, beginning with the first; false if those were the
  /// last.
  bool estimate_some(Index rows, std::uint64_t seed, Index most, Run& run);
  Index estimated_from() const { return sampled_; }  // rows for each row of pixels

  /// Up to `most` consecutive rows of overview pixels that are not exact yet, nearest to a token;
  /// empty if all are exact.
  IndexRange next_band(Index focus_row, Index most) const;
  /// Makes these rows of pixels exact.
  void fill(IndexRange pixel_rows, Run& run);
  /// The number of each pixel, and of means its largest entry: matrices of one shape. `largest` is
  /// empty if the map is of maxima.
  struct Pixels {
    Matrix values, largest;
  };
  /// Takes exact pixels that were found elsewhere: [pixel_rows.size(), overview_rows()]. `rounded`:
  /// of logits whose factors were rounded to 16 bits.
  void put(IndexRange pixel_rows, const Pixels& pixels, bool rounded = false);

  /// Makes the missing tile of the view that is nearest to its focus; false if none is missing.
  bool refine(const MapView& view, Run& run);

  MapPicture picture(const MapView& view) const;

 private:
  struct Tile {
    Index pixel, row, col;  // in tiles
    Pixels pixels;
  };
  /// 32 MiB, or twice as much for means; a view that needs more tiles keeps its own.
  static constexpr std::size_t most_tiles = 128;

  bool means() const { return kind_ == Pool::Kind::mean; }
  void begin_overview();
  Pixels pool(IndexRange rows, IndexRange cols, Index pixel, Run& run) const;
  void estimate_part(IndexRange rows, IndexRange cols, std::uint64_t seed, Run& run);
  IndexRange tokens(IndexRange pixels, Index pixel) const;
  const Tile* find(Index pixel, Index row, Index col) const;
  const Tile* coarser(Index pixel, Index row, Index col) const;
  void draw_overview(const MapView& view, IndexRange rows, IndexRange cols, MapPicture& out) const;
  void enlarge_overview(const MapView& view, IndexRange rows, IndexRange cols,
                        MapPicture& out) const;
  void draw_tile(const MapView& view, IndexRange rows, IndexRange cols, const Tile& tile,
                 MapPicture& out) const;
  void found_more();

  Index n_, pixel_ = 1, side_ = 0;
  Pool::Kind kind_;
  MapPixels pixels_;
  Pixels overview_;        // [side, side]
  Matrix standard_error_;  // [side, side]
  DoneRows exact_;         // of [side]
  /// Rows sampled for a row of pixels; number of estimated rows of pixels.
  Index sampled_ = 0, estimated_ = 0;
  mutable std::list<Tile> tiles_;  // the last used first
  std::atomic<std::uint64_t> version_ = 0;
  std::atomic<double> exact_share_ = 0;
  std::atomic<bool> begun_ = false;
  bool rounded_ = false;  // some rows of the overview
};

}  // namespace fovea
