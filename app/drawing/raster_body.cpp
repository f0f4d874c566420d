// Rasters, the numbers in their cells, and the strip of shares beside them.
#include <algorithm>
#include <cmath>

#include "drawing/bodies.h"

namespace fovea::drawing {
namespace {

constexpr double kCellForNumbers = 2.5;  // in letters

/// The tokens of an axis that are seen and covered.
IndexRange visible(const PanelAxis& axis, IndexRange covered) {
  return {std::max(static_cast<Index>(std::floor(axis.low)), covered.begin),
          std::min(static_cast<Index>(std::ceil(axis.high)), covered.end)};
}

/// The value as short as it must be for its cell; empty when nothing fits.
std::string cell_text(double value, double cell, const Lettering& letters) {
  const double size = letters.size();
  std::string text = compact_number(value, cell >= 4.2 * size ? 4 : 3);
  if (letters.width(text) > cell - 0.3 * size) text = compact_number(value, 2);
  return letters.width(text) > cell - 0.2 * size ? "" : text;
}

void write_numbers(const BodyDrawing& d, const Raster& raster) {
  const PanelAxis &across = *d.plot.axes.x, &down = *d.plot.axes.y;
  const double cell = std::min(d.plot.where.width / (across.high - across.low),
                               d.plot.where.height / (down.high - down.low));
  const bool exact_cells =
      raster.values.rows() == raster.rows.size() && raster.values.cols() == raster.cols.size();
  if (cell < kCellForNumbers * d.ink.letters.size() || !exact_cells ||
      raster.palette == Palette::categories)
    return;
  const Clip clip(d.ink, d.plot.where);
  const IndexRange rows = visible(down, raster.rows), cols = visible(across, raster.cols);
  for (Index r = rows.begin; r < rows.end; ++r)
    for (Index c = cols.begin; c < cols.end; ++c) {
      const double value = raster.values(r - raster.rows.begin, c - raster.cols.begin);
      if (!std::isfinite(value)) continue;
      d.ink.write(d.plot.box({r, r + 1}, {c, c + 1}), cell_text(value, cell, d.ink.letters),
                  Align::centre, readable_on(d.scale->colour(value)));
    }
}

}  // namespace

void draw_row_shares(Ink& ink, const Rect& where, const PanelAxis& axis, const RowShares& shares,
                     const Colormap& map) {
  // Fewer than are drawn: lines that are not known must not be blended with those that are.
  constexpr double kMost = 4096;
  const int lines =
      static_cast<int>(std::clamp(std::floor(where.height / ink.style.finest), 1.0, kMost));
  std::vector<Rgba> colours(static_cast<std::size_t>(lines), Rgba{0, 0, 0, 0});
  const auto token = [&](int line) {
    return static_cast<Index>(std::floor(axis.low + (axis.high - axis.low) * line / lines + 1e-9));
  };
  const auto count = static_cast<Index>(shares.values.size());
  for (int line = 0; line < lines; ++line) {
    const Index from = std::max<Index>(token(line) - shares.first, 0);
    const Index to = std::min(std::max(token(line) + 1, token(line + 1)) - shares.first, count);
    float most = -1;
    for (Index i = from; i < to; ++i)
      if (const float v = shares.values[static_cast<std::size_t>(i)]; v > most && std::isfinite(v))
        most = v;
    if (most < 0) continue;
    // By a root: small shares shall be told from none.
    const double share = std::sqrt(std::clamp(most / shares.top, 0.0, 1.0));
    colours[static_cast<std::size_t>(line)] =
        opaque(map.steps[static_cast<std::size_t>(255 * share)]);
  }
  ink.cells(where, lines, 1, colours);
}

void draw(const BodyDrawing& d, const Raster& raster) {
  if (raster.values.empty()) return draw_message(d.ink, d.plot.where, "no entries in view");
  const Rect whole = d.plot.box(raster.rows, raster.cols);
  d.ink.raster(raster, *d.scale, {whole, whole.intersected(d.plot.where)});
  write_numbers(d, raster);
}

}  // namespace fovea::drawing
