// Rasters with the numbers in their cells, maps of ranks, and the strip of numbers beside them.
#include <algorithm>
#include <cmath>
#include <map>

#include "data/number_text.h"
#include "drawing/bodies.h"
#include "drawing/largest.h"
#include "views/views.h"

namespace fovea::drawing {
namespace {

constexpr Rgba kBlockEdge{60, 40, 30};
// In letters.
constexpr double kCellForNumbers = 2.5;
constexpr double kSmallestRank = 0.64, kLargestRank = 1.5;  // sizes of a block's number
constexpr double kStripGap = 0.18, kStripWidth = 0.5;

/// The tokens of an axis that are seen and covered.
IndexRange visible(const PanelAxis& axis, IndexRange covered) {
  return {std::max(Index(std::floor(axis.low)), covered.begin),
          std::min(Index(std::ceil(axis.high)), covered.end)};
}

/// The value, as short as its cell requires; empty if nothing fits.
std::string cell_text(double value, double cell, const Lettering& letters) {
  const double size = letters.size();
  std::string text = format_compact(value, cell >= 4.2 * size ? 4 : 3);
  if (letters.width(text) > cell - 0.3 * size) text = format_compact(value, 2);
  return letters.width(text) > cell - 0.2 * size ? "" : text;
}

/// The place for the number of a cell. If the drawn part cuts the cell, it is the quarter of the
/// cell that lies furthest inside the part. Nothing for a cell that is not seen.
std::optional<Rect> room_for_number(const BodyDrawing& d, const Rect& cell) {
  if (!d.part) return cell;
  const Rect quarter{cell.x, cell.y, cell.width / 2, cell.height / 2};
  std::optional<Rect> most;
  double furthest = 0;
  int inside = 0;
  for (const double right : {0.0, 1.0})
    for (const double down : {0.0, 1.0}) {
      const double beyond =
          d.part->beyond({cell.x + right * cell.width, cell.y + down * cell.height});
      inside += beyond >= 0;
      if (beyond <= furthest) continue;
      furthest = beyond;
      most = quarter.moved(right * quarter.width, down * quarter.height);
    }
  return inside == 4 ? cell : most;
}

void write_numbers(const BodyDrawing& d, const Raster& raster) {
  const PanelAxis &across = *d.plot.axes.x, &down = *d.plot.axes.y;
  const double cell = std::min(d.plot.where.width / (across.high - across.low),
                               d.plot.where.height / (down.high - down.low));
  const bool exact_cells =
      raster.values.rows() == raster.rows.size() && raster.values.cols() == raster.cols.size();
  if (cell < kCellForNumbers * d.ink.letters.size() || !exact_cells ||
      raster.palette == Palette::categories || raster.palette == Palette::shares)
    return;
  const Clip clip(d.ink, d.plot.where);
  const IndexRange rows = visible(down, raster.rows), cols = visible(across, raster.cols);
  for (Index r = rows.begin; r < rows.end; ++r)
    for (Index c = cols.begin; c < cols.end; ++c) {
      const double value = raster.values(r - raster.rows.begin, c - raster.cols.begin);
      if (!std::isfinite(value)) continue;
      const auto room = room_for_number(d, d.plot.box({r, r + 1}, {c, c + 1}));
      if (!room) continue;
      d.ink.write(*room, cell_text(value, std::min(cell, room->width), d.ink.letters),
                  Align::centre, readable_on(d.scale->colour(value)));
    }
}

/// The size of the number of a block; nothing if the block is too small for it.
std::optional<Letters> rank_letters(const Ink& ink, const Rect& box, const std::string& rank) {
  const double by_width = 0.72 * box.width / ink.letters.width(rank, {1});
  const double size = std::min(
      {by_width, 0.75 * std::min(box.width, box.height), kLargestRank * ink.letters.size()});
  if (size < kSmallestRank * ink.letters.size()) return {};
  return Letters{size};
}

void write_rank(Ink& ink, const Rect& box, int rank, const Rgb& ground) {
  const std::string text = std::to_string(rank);
  if (const auto face = rank_letters(ink, box, text))
    ink.write(box, text, Align::centre, readable_on(ground), *face);
}

}  // namespace

void draw(const BodyDrawing& d, const Raster& raster) {
  if (raster.values.empty()) return draw_message(d.ink, d.plot.where, "no entries in view");
  const Rect whole = d.plot.box(raster.rows, raster.cols);
  d.ink.raster(raster, *d.scale, {whole, whole.intersected(d.plot.where), d.settings.pool});
  draw_peaks(d, raster, whole);
  write_numbers(d, raster);
}

void draw(const BodyDrawing& d, const BlockMap& blocks) {
  const Clip clip(d.ink, d.plot.where);
  for (const RankBlock& block : blocks.map.blocks) {
    const Rect box = d.plot.box(block.rows, block.cols);
    const auto room = room_for_number(d, box);
    if (!room || box.intersected(d.plot.where).empty()) continue;
    const Rgb colour = d.scale->colour(rank_share(blocks, block, d.scale->rank_colour));
    d.ink.fill(box, opaque(colour));
    const double side = std::min(box.width, box.height);
    if (side >= 4 * d.ink.style.finest)
      d.ink.outline(box, {faded(kBlockEdge, 0.6), std::min(d.ink.style.hair, 0.1 * side)});
    write_rank(d.ink, *room, block.rank, colour);
  }
}

void write_ranks_over(const BodyDrawing& d, const BlockMap& blocks, Index query) {
  const Clip clip(d.ink, d.plot.where);
  for (const RankBlock& block : blocks.map.blocks) {
    const auto room = room_for_number(d, d.plot.box(block.rows, block.cols));
    const std::string text = std::to_string(block.rank);
    const auto face = room ? rank_letters(d.ink, *room, text) : std::nullopt;
    if (!face) continue;
    const double high = d.ink.letters.size(*face),
                 wide = d.ink.letters.width(text, *face) + 0.3 * high;
    const Point middle = room->centre();
    const Rect number{middle.x - wide / 2, middle.y - high / 2, wide, high};
    if (d.plot.box({query, query + 1}, block.cols)
            .inset(-d.ink.style.finest)
            .intersected(number)
            .empty())
      continue;
    const Rgb colour = d.scale->colour(rank_share(blocks, block, d.scale->rank_colour));
    d.ink.fill(number, opaque(colour));
    write_rank(d.ink, *room, block.rank, colour);
  }
}

float RowStrip::largest(IndexRange queries) const {
  constexpr float finite = std::numeric_limits<float>::max();
  return largest_in(values, {queries.begin - first, queries.end - first}, finite).value_or(NAN);
}

std::optional<RowStrip> row_strip_of(const Panel& panel, std::span<const float> errors) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (!raster) return std::nullopt;
  RowStrip strip{raster->row_values, raster->rows.begin, raster->row_top};
  if (raster->row_values.empty() && panel.view->has_token_errors && !errors.empty()) {
    strip = {errors};
    strip.top = strip.largest({0, Index(errors.size())});
  }
  if (strip.values.empty() || !(strip.top > 0)) return std::nullopt;
  return strip;
}

ColourScale scale_of_strips(double top, const std::string& quantity, const std::string& colormap) {
  // The colours of numbers that are drawn by their root.
  static const auto maps = [] {
    std::map<std::string, Colormap> of_roots;
    for (const std::string& id : colormap_ids())
      of_roots[id] = by_root(colormap_for(Palette::sequential, id));
    return of_roots;
  }();
  ColourScale scale;
  scale.map = &maps.at(colormap_for(Palette::sequential, colormap).id);
  scale.high = top;
  scale.label = "strip: " + quantity;
  return scale;
}

double row_strip_room(const Lettering& letters) {
  return (kStripGap + kStripWidth) * letters.size();
}

void draw_row_strip(Ink& ink, const Rect& plot, const PanelAxis& axis, const RowStrip& strip,
                    const Colormap& map) {
  // Fewer than the rows that are drawn, so that unknown rows are not blended with known ones.
  constexpr double kMost = 4096;
  const int lines = std::clamp(std::floor(plot.height / ink.style.finest), 1.0, kMost);
  const auto token = [&](int line) {
    return Index(std::floor(axis.low + (axis.high - axis.low) * line / lines + 1e-9));
  };
  std::vector<Rgba> colours(lines, Rgba{0, 0, 0, 0});
  for (int line = 0; line < lines; ++line) {
    const float most = strip.largest({token(line), std::max(token(line) + 1, token(line + 1))});
    if (std::isnan(most)) continue;
    // A root makes small numbers distinguishable from 0.
    const int step = 255 * std::sqrt(std::clamp(most / strip.top, 0.0, 1.0));
    colours[line] = opaque(map.steps[step]);
  }
  const double gap = kStripGap * ink.letters.size(), width = kStripWidth * ink.letters.size();
  ink.cells({plot.right() + gap, plot.y, width, plot.height}, lines, 1, colours);
}

}  // namespace fovea::drawing
