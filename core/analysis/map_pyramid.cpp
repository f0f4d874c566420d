#include "analysis/map_pyramid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "data/pixels.h"

namespace fovea {
namespace {

// A range of tokens as whole pixels and one that is cut off at the end. Either may be empty.
struct Cut {
  IndexRange whole, rest;
  Cut(IndexRange tokens, Index pixel) {
    const Index end = tokens.begin + tokens.size() / pixel * pixel;
    whole = {tokens.begin, end};
    rest = {end, tokens.end};
  }
};

void copy_into(const Matrix& from, Index row, Index col, Matrix& to) {
  for (Index r = 0; r < from.rows(); ++r)
    std::copy_n(from.row(r), from.cols(), to.row(row + r) + col);
}

}  // namespace

MapView map_view(IndexRange rows, IndexRange cols, Index most) {
  const Index side = std::max({rows.size(), cols.size(), Index{1}});
  const auto pixel = static_cast<Index>(
      std::bit_ceil(static_cast<std::uint64_t>(pixels_over(side, std::max<Index>(most, 1)))));
  const auto pixels = [&](IndexRange r) {
    return IndexRange{r.begin / pixel, pixels_over(r.end, pixel)};
  };
  return {pixel, pixels(rows), pixels(cols), (rows.begin + rows.end) / 2,
          (cols.begin + cols.end) / 2};
}

MapPyramid::MapPyramid(Index n, Pool::Kind kind, MapPixels pixels, Index side)
    : n_(n), kind_(kind == Pool::Kind::mean ? kind : Pool::Kind::max), pixels_(std::move(pixels)) {
  pixel_ = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(pixels_over(n, side))));
  side_ = pixels_over(n, pixel_);
  exact_ = DoneRows(side_);
}

IndexRange MapPyramid::tokens(IndexRange pixels, Index pixel) const {
  return {pixels.begin * pixel, std::min(n_, pixels.end * pixel)};
}

// Pixels of whole ranges, and of the part that is cut off at the end of the matrix.
MapPyramid::Pixels MapPyramid::pool(IndexRange rows, IndexRange cols, Index pixel, Run& run) const {
  const bool single = pixel == 1;
  Pixels out{Matrix(pixels_over(rows.size(), pixel), pixels_over(cols.size(), pixel)), {}};
  if (means() && !single) out.largest = Matrix(out.values.rows(), out.values.cols());
  const Cut down(rows, pixel), across(cols, pixel);
  for (const IndexRange r : {down.whole, down.rest})
    for (const IndexRange c : {across.whole, across.rest}) {
      if (r.size() == 0 || c.size() == 0) continue;
      Matrix largest;
      const Pool grid{.kind = single ? Pool::Kind::none : kind_,
                      .rows = pixels_over(r.size(), pixel),
                      .cols = pixels_over(c.size(), pixel),
                      .largest = out.largest.empty() ? nullptr : &largest};
      const Index row = (r.begin - rows.begin) / pixel, col = (c.begin - cols.begin) / pixel;
      copy_into(pixels_(r, c, grid, run), row, col, out.values);
      if (grid.largest) copy_into(largest, row, col, out.largest);
    }
  if (means() && single) out.largest = Matrix::copy_of(out.values);
  return out;
}

void MapPyramid::found_more() {
  exact_share_ = exact_.share();
  if (exact_.all()) standard_error_ = {};
  begun_ = estimated_ == side_ || exact_.all();
  ++version_;
}

// ---- The overview -------------------------------------------------------------------------------

void MapPyramid::begin_overview() {
  if (!overview_.values.empty()) return;
  const auto unknown = [&] {
    return Matrix(side_, side_, std::numeric_limits<float>::quiet_NaN());
  };
  overview_.values = unknown();
  if (means()) overview_.largest = unknown();
}

void MapPyramid::estimate(Index rows, std::uint64_t seed, Run& run) {
  estimated_ = 0;
  while (estimate_some(rows, seed, side_, run)) {
  }
}

bool MapPyramid::estimate_some(Index rows, std::uint64_t seed, Index most, Run& run) {
  sampled_ = std::clamp<Index>(
      static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(std::max<Index>(rows, 1)))), 1,
      pixel_);
  const IndexRange band{estimated_, std::min(side_, estimated_ + std::max<Index>(most, 1))};
  if (band.size() <= 0) return false;
  begin_overview();
  if (means() && standard_error_.empty()) standard_error_ = Matrix(side_, side_);
  const Cut down(tokens(band, pixel_), pixel_), across({0, n_}, pixel_);
  for (const IndexRange r : {down.whole, down.rest})
    for (const IndexRange c : {across.whole, across.rest})
      if (r.size() > 0 && c.size() > 0) estimate_part(r, c, seed, run);
  estimated_ = band.end;
  found_more();
  return estimated_ < side_;
}

void MapPyramid::estimate_part(IndexRange rows, IndexRange cols, std::uint64_t seed, Run& run) {
  const Index its = std::min(sampled_, rows.size()), side = pixels_over(rows.size(), pixel_);
  Matrix largest;
  const Pool grid{kind_, its * side, pixels_over(cols.size(), pixel_), seed,
                  means() ? &largest : nullptr};
  const Matrix drawn = pixels_(rows, cols, grid, run);
  const Matrix& most_drawn = means() ? largest : drawn;
  // Rows of a pixel, or fewer if it is cut off.
  const Index height = std::min(pixel_, rows.size());
  const double count = static_cast<double>(its), left = 1 - count / static_cast<double>(height);
  for (Index p = 0; p < side; ++p) {
    const Index row = rows.begin / pixel_ + p;
    if (exact_.has(row)) continue;
    for (Index k = 0; k < drawn.cols(); ++k) {
      double sum = 0, squares = 0;
      float most = most_drawn(p * its, k);
      for (Index s = 0; s < its; ++s) {
        const auto x = static_cast<double>(drawn(p * its + s, k));
        sum += x;
        squares += x * x;
        most = larger(most, most_drawn(p * its + s, k));
      }
      const double mean = sum / count;
      const Index col = cols.begin / pixel_ + k;
      overview_.values(row, col) = means() ? static_cast<float>(mean) : most;
      if (!means()) continue;
      overview_.largest(row, col) = most;
      // The standard error of a mean of rows drawn without replacement. A single row gives no
      // estimate of its error.
      standard_error_(row, col) = static_cast<float>(
          its == 1 ? std::abs(mean)
                   : std::sqrt(std::max(0.0, squares / count - mean * mean) / (count - 1) * left));
    }
  }
}

IndexRange MapPyramid::next_band(Index focus_row, Index most) const {
  return exact_.next(focus_row / pixel_, most);
}

void MapPyramid::fill(IndexRange pixel_rows, Run& run) {
  put(pixel_rows, pool(tokens(pixel_rows, pixel_), {0, n_}, pixel_, run));
}

void MapPyramid::put(IndexRange pixel_rows, const Pixels& pixels, bool rounded) {
  rounded_ |= rounded;
  begin_overview();
  for (Index p = pixel_rows.begin; p < pixel_rows.end; ++p) {
    std::copy_n(pixels.values.row(p - pixel_rows.begin), side_, overview_.values.row(p));
    if (means())
      std::copy_n(pixels.largest.row(p - pixel_rows.begin), side_, overview_.largest.row(p));
    if (!standard_error_.empty()) std::fill_n(standard_error_.row(p), side_, 0.0f);
  }
  exact_.add(pixel_rows);
  found_more();
}

// ---- Tiles --------------------------------------------------------------------------------------

const MapPyramid::Tile* MapPyramid::find(Index pixel, Index row, Index col) const {
  const auto it = std::ranges::find_if(
      tiles_, [&](const Tile& t) { return t.pixel == pixel && t.row == row && t.col == col; });
  if (it == tiles_.end()) return nullptr;
  tiles_.splice(tiles_.begin(), tiles_, it);
  return &tiles_.front();
}

bool MapPyramid::refine(const MapView& view, Run& run) {
  if (view.pixel >= pixel_) return false;
  const Index side = tile_side * view.pixel;  // tokens
  struct Wanted {
    Index row, col;
    double distance;
  };
  std::optional<Wanted> nearest;
  std::size_t seen = 0;  // tiles of the view, all of which are kept
  const auto away = [side](Index tile, Index focus) {
    const Index centre = tile * side + side / 2;
    return static_cast<double>(centre - focus);
  };
  for (Index r = view.rows.begin / tile_side; r * tile_side < view.rows.end; ++r)
    for (Index c = view.cols.begin / tile_side; c * tile_side < view.cols.end; ++c) {
      if (r * side >= n_ || c * side >= n_) continue;
      ++seen;
      if (find(view.pixel, r, c)) continue;
      const double distance = std::hypot(away(r, view.focus_row), away(c, view.focus_col));
      if (!nearest || distance < nearest->distance) nearest = {r, c, distance};
    }
  if (!nearest) return false;
  const auto tile_tokens = [&](Index tile) {
    return IndexRange{tile * side, std::min(n_, (tile + 1) * side)};
  };
  Pixels pixels = pool(tile_tokens(nearest->row), tile_tokens(nearest->col), view.pixel, run);
  tiles_.push_front({view.pixel, nearest->row, nearest->col, std::move(pixels)});
  while (tiles_.size() > std::max(most_tiles, seen)) tiles_.pop_back();
  ++version_;
  return true;
}

}  // namespace fovea
