// Pictures of a MapPyramid: the known pixels of a view, coarser ones where they are not known yet.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/map_pyramid.h"
#include "data/pixels.h"

namespace fovea {
// An overview pixel covers several pixels of the view, or the other way round.
void MapPyramid::draw_overview(const MapView& view, IndexRange rows, IndexRange cols,
                               MapPicture& out) const {
  if (overview_.values.empty()) return;
  if (view.pixel <= pixel_) return enlarge_overview(view, rows, cols, out);
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
      const Matrix& largest = means() ? overview_.largest : overview_.values;
      float most = largest(down.begin, across.begin);
      double sum = 0, area = 0, variance = 0;
      for (Index i = down.begin; i < down.end; ++i)
        for (Index k = across.begin; k < across.end; ++k) {
          const double its = share(i) * share(k);
          most = larger(most, largest(i, k));
          sum += its * static_cast<double>(overview_.values(i, k));
          area += its;
          if (!standard_error_.empty()) {
            const double e = its * static_cast<double>(standard_error_(i, k));
            variance += e * e;
          }
        }
      const Index at = r - view.rows.begin, col = c - view.cols.begin;
      out.values(at, col) = means() ? static_cast<float>(sum / area) : most;
      if (means()) out.largest(at, col) = most;
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
  enlarge(overview_.values, out.values);
  if (means()) enlarge(overview_.largest, out.largest);
  if (!out.standard_error.empty()) enlarge(standard_error_, out.standard_error);
}

// The finest known tile that covers the first pixel of a missing tile.
const MapPyramid::Tile* MapPyramid::coarser(Index pixel, Index row, Index col) const {
  for (Index its = 2 * pixel; its < pixel_; its *= 2) {
    const Index factor = its / pixel;
    if (const Tile* tile = find(its, row / factor, col / factor)) return tile;
  }
  return nullptr;
}

void MapPyramid::draw_tile(const MapView& view, IndexRange rows, IndexRange cols, const Tile& tile,
                           MapPicture& out) const {
  const Index factor = tile.pixel / view.pixel;
  const Index first_row = tile.row * tile_side, first_col = tile.col * tile_side;
  const auto draw = [&](const Matrix& pixels, Matrix& into) {
    for (Index r = rows.begin; r < rows.end; ++r) {
      const float* from = pixels.row(r / factor - first_row);
      float* to = into.row(r - view.rows.begin) - view.cols.begin;
      if (factor == 1)
        std::copy(from + (cols.begin - first_col), from + (cols.end - first_col), to + cols.begin);
      else
        for (Index c = cols.begin; c < cols.end; ++c) to[c] = from[c / factor - first_col];
    }
  };
  draw(tile.pixels.values, out.values);
  if (means()) draw(tile.pixels.largest, out.largest);
}

MapPicture MapPyramid::picture(const MapView& view) const {
  const auto unknown = [&] {
    return Matrix(view.rows.size(), view.cols.size(), std::numeric_limits<float>::quiet_NaN());
  };
  MapPicture out{.values = unknown()};
  if (means()) out.largest = unknown();
  const Index last = pixels_over(n_, view.pixel);
  const IndexRange rows = view.rows.intersected({0, last}), cols = view.cols.intersected({0, last});
  if (rows.size() == 0 || cols.size() == 0) return out;
  const IndexRange under{rows.begin * view.pixel / pixel_,
                         pixels_over(std::min(n_, rows.end * view.pixel), pixel_)};
  Index estimated = 0;
  for (Index p = under.begin; p < under.end; ++p) estimated += !exact_.has(p);
  out.estimated = static_cast<double>(estimated) / static_cast<double>(under.size());
  out.rounded = rounded_;
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
      const IndexRange its_rows = rows.intersected({r * tile_side, (r + 1) * tile_side});
      const IndexRange its_cols = cols.intersected({c * tile_side, (c + 1) * tile_side});
      if (const Tile* tile = find(view.pixel, r, c)) {
        draw_tile(view, its_rows, its_cols, *tile, out);
        continue;
      }
      out.complete = false;
      if (const Tile* tile = coarser(view.pixel, r, c))
        draw_tile(view, its_rows, its_cols, *tile, out);
      else
        draw_overview(view, its_rows, its_cols, out);
    }
  // A picture of tiles alone is not an estimate.
  if (out.complete) {
    out.estimated = 0;
    out.rounded = false;
    out.standard_error = {};
  }
  return out;
}

}  // namespace fovea
