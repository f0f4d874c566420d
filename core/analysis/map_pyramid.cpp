#include "analysis/map_pyramid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace fovea {
namespace {

// Of two entries, or of two maxima: NaN is shown.
float larger(float a, float b) {
  return std::abs(b) > std::abs(a) || std::isnan(b) ? b : a;
}

Index pixels_over(Index tokens, Index pixel) {
  return (tokens + pixel - 1) / pixel;
}

IndexRange common(IndexRange a, IndexRange b) {
  return {std::max(a.begin, b.begin), std::max(std::max(a.begin, b.begin), std::min(a.end, b.end))};
}

// A range of tokens as whole pixels and one that is cut off at the end, either may be empty.
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

MapPyramid::MapPyramid(Index n, Pool::Kind kind, MapPixels pixels)
    : n_(n), kind_(kind == Pool::Kind::mean ? kind : Pool::Kind::max), pixels_(std::move(pixels)) {
  pixel_ =
      static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(pixels_over(n, overview_side))));
  side_ = pixels_over(n, pixel_);
  exact_ = DoneRows(side_);
}

IndexRange MapPyramid::tokens(IndexRange pixels, Index pixel) const {
  return {pixels.begin * pixel, std::min(n_, pixels.end * pixel)};
}

// Pixels of whole ranges, and of what is cut off at the end of the matrix.
Matrix MapPyramid::pool(IndexRange rows, IndexRange cols, Index pixel, Run& run) const {
  Matrix out(pixels_over(rows.size(), pixel), pixels_over(cols.size(), pixel));
  const Cut down(rows, pixel), across(cols, pixel);
  for (const IndexRange r : {down.whole, down.rest})
    for (const IndexRange c : {across.whole, across.rest}) {
      if (r.size() == 0 || c.size() == 0) continue;
      const Pool grid{pixel == 1 ? Pool::Kind::none : kind_, pixels_over(r.size(), pixel),
                      pixels_over(c.size(), pixel)};
      copy_into(pixels_(r, c, grid, run), (r.begin - rows.begin) / pixel,
                (c.begin - cols.begin) / pixel, out);
    }
  return out;
}

void MapPyramid::found_more() {
  exact_share_ = exact_.share();
  if (exact_.all()) standard_error_ = {};
  begun_ = estimated_ == side_ || exact_.all();
  ++version_;
}

// ---- The overview -------------------------------------------------------------------------------

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
  if (overview_.empty()) overview_ = Matrix(side_, side_, std::numeric_limits<float>::quiet_NaN());
  const bool means = kind_ == Pool::Kind::mean;
  if (means && standard_error_.empty()) standard_error_ = Matrix(side_, side_);
  const Cut down(tokens(band, pixel_), pixel_), across({0, n_}, pixel_);
  for (const IndexRange r : {down.whole, down.rest})
    for (const IndexRange c : {across.whole, across.rest})
      if (r.size() > 0 && c.size() > 0) estimate_part(r, c, seed, run);
  estimated_ = band.end;
  found_more();
  return estimated_ < side_;
}

void MapPyramid::estimate_part(IndexRange rows, IndexRange cols, std::uint64_t seed, Run& run) {
  const bool means = kind_ == Pool::Kind::mean;
  const Index its = std::min(sampled_, rows.size()), side = pixels_over(rows.size(), pixel_);
  const Matrix drawn =
      pixels_(rows, cols, {kind_, its * side, pixels_over(cols.size(), pixel_), seed}, run);
  // Rows of a pixel; a single one that is cut off has fewer.
  const Index height = std::min(pixel_, rows.size());
  const double count = static_cast<double>(its), left = 1 - count / static_cast<double>(height);
  for (Index p = 0; p < side; ++p) {
    const Index row = rows.begin / pixel_ + p;
    if (exact_.has(row)) continue;
    for (Index k = 0; k < drawn.cols(); ++k) {
      double sum = 0, squares = 0;
      float most = drawn(p * its, k);
      for (Index s = 0; s < its; ++s) {
        const auto x = static_cast<double>(drawn(p * its + s, k));
        sum += x;
        squares += x * x;
        most = larger(most, drawn(p * its + s, k));
      }
      const double mean = sum / count;
      const Index col = cols.begin / pixel_ + k;
      overview_(row, col) = means ? static_cast<float>(mean) : most;
      // Of a mean of rows drawn without replacement; one row alone says nothing of its error.
      if (means)
        standard_error_(row, col) = static_cast<float>(
            its == 1
                ? std::abs(mean)
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

void MapPyramid::put(IndexRange pixel_rows, const Matrix& values) {
  if (overview_.empty()) overview_ = Matrix(side_, side_, std::numeric_limits<float>::quiet_NaN());
  for (Index p = pixel_rows.begin; p < pixel_rows.end; ++p) {
    std::copy_n(values.row(p - pixel_rows.begin), side_, overview_.row(p));
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
    return static_cast<double>(tile * side + side / 2 - focus);
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
  Matrix values = pool(tile_tokens(nearest->row), tile_tokens(nearest->col), view.pixel, run);
  tiles_.push_front({view.pixel, nearest->row, nearest->col, std::move(values)});
  if (tiles_.size() > std::max(most_tiles, seen)) tiles_.pop_back();
  ++version_;
  return true;
}

// ---- Pictures -----------------------------------------------------------------------------------

// Overview pixels over the view's: one stands for several, or several for one.
void MapPyramid::draw_overview(const MapView& view, IndexRange rows, IndexRange cols,
                               MapPicture& out) const {
  if (overview_.empty()) return;
  if (view.pixel <= pixel_) return enlarge_overview(view, rows, cols, out);
  const bool means = kind_ == Pool::Kind::mean;
  const auto share = [&](Index p) {  // an overview pixel may be cut off at the end
    return static_cast<double>(tokens({p, p + 1}, pixel_).size());
  };
  const auto under = [&](Index pixel) {
    return IndexRange{pixel * view.pixel / pixel_,
                      std::min(side_, (pixel + 1) * view.pixel / pixel_)};
  };
  for (Index r = rows.begin; r < rows.end; ++r)
    for (Index c = cols.begin; c < cols.end; ++c) {
      const IndexRange down = under(r), across = under(c);
      if (down.size() <= 0 || across.size() <= 0) continue;
      float most = overview_(down.begin, across.begin);
      double sum = 0, area = 0, variance = 0;
      for (Index i = down.begin; i < down.end; ++i)
        for (Index k = across.begin; k < across.end; ++k) {
          const double its = share(i) * share(k);
          most = larger(most, overview_(i, k));
          sum += its * static_cast<double>(overview_(i, k));
          area += its;
          if (!standard_error_.empty()) {
            const double e = its * static_cast<double>(standard_error_(i, k));
            variance += e * e;
          }
        }
      const Index at = r - view.rows.begin, col = c - view.cols.begin;
      out.values(at, col) = means ? static_cast<float>(sum / area) : most;
      if (!out.standard_error.empty())
        out.standard_error(at, col) = static_cast<float>(std::sqrt(variance) / area);
    }
}

void MapPyramid::enlarge_overview(const MapView& view, IndexRange rows, IndexRange cols,
                                  MapPicture& out) const {
  const Index factor = pixel_ / view.pixel;
  const auto enlarge = [&](const Matrix& from, Matrix& to) {
    for (Index r = rows.begin; r < rows.end; ++r) {
      const float* its = from.row(r / factor);
      float* at = to.row(r - view.rows.begin) - view.cols.begin;
      for (Index c = cols.begin; c < cols.end; ++c) at[c] = its[c / factor];
    }
  };
  enlarge(overview_, out.values);
  if (!out.standard_error.empty()) enlarge(standard_error_, out.standard_error);
}

// The finest known tile over the first pixel of one that is missing.
const MapPyramid::Tile* MapPyramid::coarser(Index pixel, Index row, Index col) const {
  for (Index its = 2 * pixel; its < pixel_; its *= 2) {
    const Index factor = its / pixel;
    if (const Tile* tile = find(its, row / factor, col / factor)) return tile;
  }
  return nullptr;
}

void MapPyramid::draw_tile(const MapView& view, IndexRange rows, IndexRange cols, const Tile& tile,
                           Matrix& out) const {
  const Index factor = tile.pixel / view.pixel;
  const Index first_row = tile.row * tile_side, first_col = tile.col * tile_side;
  for (Index r = rows.begin; r < rows.end; ++r) {
    const float* from = tile.values.row(r / factor - first_row);
    float* to = out.row(r - view.rows.begin) - view.cols.begin;
    if (factor == 1)
      std::copy(from + (cols.begin - first_col), from + (cols.end - first_col), to + cols.begin);
    else
      for (Index c = cols.begin; c < cols.end; ++c) to[c] = from[c / factor - first_col];
  }
}

MapPicture MapPyramid::picture(const MapView& view) const {
  MapPicture out{.values = Matrix(view.rows.size(), view.cols.size(),
                                  std::numeric_limits<float>::quiet_NaN())};
  const Index last = pixels_over(n_, view.pixel);
  const IndexRange rows = common(view.rows, {0, last}), cols = common(view.cols, {0, last});
  if (rows.size() == 0 || cols.size() == 0) return out;
  const IndexRange under{rows.begin * view.pixel / pixel_,
                         pixels_over(std::min(n_, rows.end * view.pixel), pixel_)};
  Index estimated = 0;
  for (Index p = under.begin; p < under.end; ++p) estimated += !exact_.has(p);
  out.estimated = static_cast<double>(estimated) / static_cast<double>(under.size());
  if (estimated > 0 && !standard_error_.empty())
    out.standard_error = Matrix(view.rows.size(), view.cols.size());
  if (view.pixel >= pixel_) {
    draw_overview(view, rows, cols, out);
    out.complete = estimated == 0;
    return out;
  }
  out.complete = true;
  for (Index r = rows.begin / tile_side; r * tile_side < rows.end; ++r)
    for (Index c = cols.begin / tile_side; c * tile_side < cols.end; ++c) {
      const IndexRange its_rows = common(rows, {r * tile_side, (r + 1) * tile_side});
      const IndexRange its_cols = common(cols, {c * tile_side, (c + 1) * tile_side});
      if (const Tile* tile = find(view.pixel, r, c)) {
        draw_tile(view, its_rows, its_cols, *tile, out.values);
        continue;
      }
      out.complete = false;
      if (const Tile* tile = coarser(view.pixel, r, c))
        draw_tile(view, its_rows, its_cols, *tile, out.values);
      else
        draw_overview(view, its_rows, its_cols, out);
    }
  // What is made of tiles alone is no estimate.
  if (out.complete) {
    out.estimated = 0;
    out.standard_error = {};
  }
  return out;
}

}  // namespace fovea
