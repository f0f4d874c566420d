// What views share: grids of pixels, rasters of weights, captions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "data/blocks.h"
#include "data/number_text.h"
#include "data/pixels.h"
#include "views/view_kind.h"

namespace fovea::views {

using Body = ViewKind::Body;

/// How many of `size` tokens stand in each of at most `limit` pixels: a divisor of `size` below
/// twice the least number if there is one, otherwise the least number.
inline Index tokens_of_pixel(Index size, Index limit) {
  const Index least = std::max<Index>(1, number_of_blocks(size, limit));
  for (Index each = least; each < 2 * least; ++each)
    if (size % each == 0) return each;
  return least;
}

/// How many pixels stand for `size` tokens: one each, or at most `limit`. Each pixel then has the
/// same whole number of tokens if there is such a number below twice the least one; otherwise
/// pixels are as even as integers allow.
inline Index pixels_for(Index size, Index limit) {
  const Index each = tokens_of_pixel(size, limit);
  return size % each == 0 ? size / each : limit;
}

/// The largest side of blocks and leaves that a setting takes.
inline constexpr Index largest_side = Index{1} << 20;

/// The side of some sixteen blocks on a short head's sides: a power of two from 2 to 16.
inline Index sixteenth(Index n) {
  return std::bit_floor(static_cast<std::uint64_t>(std::clamp<Index>(n / 16, 2, 16)));
}

/// A pixel grid over a rectangle: at most max_pixels a side.
struct Grid {
  IndexRange rows, cols;
  Index down = 0, across = 0;

  Grid(IndexRange r, IndexRange c, Index max_pixels)
      : rows(r),
        cols(c),
        down(pixels_for(r.size(), max_pixels)),
        across(pixels_for(c.size(), max_pixels)) {}
  /// The grid of a map, whose last pixels may extend beyond the end of the matrix.
  explicit Grid(const MapView& view)
      : rows{view.rows.begin * view.pixel, view.rows.end * view.pixel},
        cols{view.cols.begin * view.pixel, view.cols.end * view.pixel},
        down(view.rows.size()),
        across(view.cols.size()) {}
  bool pooled() const { return down < rows.size() || across < cols.size(); }
  IndexRange row_tokens(Index p) const { return part(rows, p, down); }
  IndexRange col_tokens(Index p) const { return part(cols, p, across); }
  Index row_centre(Index p) const { return centre(row_tokens(p)); }
  Index col_centre(Index p) const { return centre(col_tokens(p)); }
  /// Pool::none unless pooled, else the user's kind (max when none was chosen).
  Pool pool(Pool::Kind chosen) const {
    if (!pooled()) return {};
    return {chosen == Pool::Kind::none ? Pool::Kind::max : chosen, down, across};
  }
  /// The same; the largest entries of means go into a matrix.
  Pool pool(Pool::Kind chosen, Matrix& largest) const {
    Pool its = pool(chosen);
    if (its.kind == Pool::Kind::mean) its.largest = &largest;
    return its;
  }

 private:
  static IndexRange part(IndexRange r, Index p, Index pixels) { return pixel_tokens(p, r, pixels); }
  static Index centre(IndexRange r) { return r.begin + r.size() / 2; }
};

/// The pixels of a long head's map, and those of any panel.
MapView view_of(const PanelInputs& in);
Grid grid_of(const PanelInputs& in);

/// The known pixels of this view. Says in the caption and in `raster` how complete they are.
MapPyramid::Pixels take_picture(const MapPyramid& map, const PanelInputs& in, Raster& raster,
                                std::string& caption);

/// What a raster needs to know beside its pixels.
struct MatrixFrame {
  Grid grid;
  const ViewSettings& settings;
  const Plan* plan;  // whose head admits some pairs only; null if all are admitted
};

/// A heatmap raster of non-negative weights whose pixels are already pooled: masks pixels without
/// an admitted pair, divides by the largest of each row if the norm asks for it, and finds the
/// range.
Raster weight_raster(MapPyramid::Pixels pixels, const std::vector<float>& row_maxima,
                     const MatrixFrame& frame);

/// "12 “eye”", or "12" for tokens without a name.
inline std::string named(const Sequence& sequence, Index token) {
  const std::string index = std::to_string(token), label = sequence.label(token);
  return label == index ? index : index + " “" + label + "”";
}

/// Sets low and high to the range of the finite values; 0 and 1 when there are none.
void set_range(Raster& raster);
/// "shown part: " if the view does not show the whole matrix: what follows is about the view.
std::string shown_part(const PanelInputs& in);
/// "12 %", or "12 % ± 0.8 %" for a sample.
std::string rounded_percent(double share, const Estimate& estimate = {});
/// Adds a sentence part, separated by " · ".
void add(std::string& caption, const std::string& text);

/// The message in place of the error of exact attention against itself.
Message error_of_exact(const PanelInputs& in);

inline bool is_exact(const PanelInputs& in) {
  return in.computation.op == in.exact.op ||
         (in.computation.variant && in.computation.variant->reference);
}

}  // namespace fovea::views
