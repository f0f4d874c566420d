// Code that all bodies share, and the bodies without axes: tables, messages and pictures.
#include "drawing/bodies.h"

#include <algorithm>
#include <functional>

#include "drawing/visit_body.h"

namespace fovea::drawing {
namespace {

LeafOrder order_of(const LeafSizes& leaves) {
  LeafOrder order;
  order.count = leaf_count(leaves);
  order.sums.assign(order.count + 1, 0);
  for (Index leaf = 0; leaf < order.count; ++leaf) {
    const Index queries = leaf < std::ssize(leaves.queries) ? leaves.queries[leaf] : 0;
    const Index keys = leaf < std::ssize(leaves.keys) ? leaves.keys[leaf] : 0;
    order.sums[leaf + 1] = order.sums[leaf] + queries + keys;
    order.most = std::max({order.most, queries, keys});
    order.keys += keys;
  }
  order.sorted_queries = leaves.queries;
  order.sorted_keys = leaves.keys;
  std::ranges::sort(order.sorted_queries, std::greater<>());
  std::ranges::sort(order.sorted_keys, std::greater<>());
  return order;
}

/// Peaks of entries that are shown one by one, or those that came with means. A logarithm that is
/// below 0 has none: the largest are not the furthest from 0.
std::vector<Peak> peaks_in(const Raster& raster) {
  if (raster.pooled != Pool::Kind::none) return raster.peaks;
  const bool from_zero = raster.palette == Palette::sequential && raster.low >= 0;
  return from_zero || raster.palette == Palette::diverging ? peaks_of(raster.values)
                                                           : std::vector<Peak>();
}

struct TableRow {
  std::vector<std::string> label, value;  // lines
  std::size_t value_line =
      0;  // on which the value begins: 0, the label's first, or below the label
  double height = 0;
};

/// Leading blanks say that a row is a part of the one above it: all lines begin with them.
std::vector<std::string> lines_of_label(const std::string& label, double room, int most,
                                        const Lettering& letters) {
  const std::string blanks(std::min(label.find_first_not_of(' '), label.size()), ' ');
  auto lines = letters.wrapped(label.substr(blanks.size()), room - letters.width(blanks), most);
  for (std::string& line : lines) line.insert(0, blanks);
  return lines;
}

/// Label and value stand side by side if the label is whole on three lines, since its end often
/// distinguishes it from the next one. Otherwise the label has the whole width, and the value
/// stands below it, on the right.
std::vector<TableRow> rows_of(const FigureTable& table, double width, const Lettering& letters) {
  constexpr int most_lines = 3;
  const double gap = 0.85 * letters.size();
  std::vector<TableRow> rows;
  for (const auto& [label, value] : table.rows) {
    TableRow row;
    row.value = letters.wrapped(value, width, most_lines);
    row.label = lines_of_label(label, width - letters.width(value) - gap, most_lines, letters);
    if (!is_whole(row.label, label)) {
      row.label = lines_of_label(label, width, most_lines, letters);
      row.value_line = row.label.size();
    }
    const std::size_t lines =
        std::max({std::size_t{1}, row.label.size(), row.value_line + row.value.size()});
    row.height = (static_cast<double>(lines) + 0.2) * letters.line();
    rows.push_back(std::move(row));
  }
  return rows;
}

double table_height(const FigureTable& table, double width, const Lettering& letters) {
  double height = 0;
  for (const TableRow& row : rows_of(table, width, letters)) height += row.height;
  return std::max(height, 1.2 * letters.line());
}

/// Between the keys that are tokens and compressed entries.
void draw_border(const BodyDrawing& d, double key) {
  const Rect& where = d.plot.where;
  const double x = d.plot.x(key);
  d.ink.line({x, where.y}, {x, where.bottom()}, {d.ink.style.accent});
}

/// Rows over columns; nothing where there are no cells.
std::optional<double> shape_of_cells(double rows, double cols) {
  if (rows < 1 || cols < 1) return std::nullopt;
  return std::clamp(rows / cols, 0.2, 2.0);  // beyond, cells are stretched
}

}  // namespace

Index leaf_count(const LeafSizes& leaves) {
  return std::max(std::ssize(leaves.queries), std::ssize(leaves.keys));
}

PreparedPanel::PreparedPanel(const Panel& shown) : panel(&shown) {
  if (const auto* raster = std::get_if<Raster>(&shown.body)) {
    contents = contents_of(*raster);
    peaks = peaks_in(*raster);
  }
  if (const auto* sizes = std::get_if<LeafSizes>(&shown.body)) leaves = order_of(*sizes);
}

Legend legend_of(const BodyDrawing& d) {
  return visit_body(
      *d.prepared.panel,
      [&](const one_of<LeafSizes, RowCurve, CurvePlot> auto& body) { return legend_of(d, body); },
      [](const one_of<Message, Raster, BlockMap, Strip, SeriesPlot, OutputPicture,
                      FigureTable> auto&) { return Legend(); });
}

void draw_body(const BodyDrawing& d) {
  std::visit([&](const auto& body) { draw(d, body); }, d.prepared.panel->body);
  if (has_key_axis(d.prepared.panel) && d.plot.axes.x && d.plot.axes.x->border)
    draw_border(d, *d.plot.axes.x->border);
}

std::optional<double> shape_of(const Panel& panel) {
  return visit_body(
      panel,
      [](const Raster& raster) { return shape_of_cells(raster.rows.size(), raster.cols.size()); },
      [](const OutputPicture& picture) { return shape_of_cells(picture.rows, picture.cols); },
      [](const one_of<BlockMap, Strip> auto&) { return shape_of_cells(1, 1); },
      [](const one_of<Message, LeafSizes, RowCurve, SeriesPlot, CurvePlot, FigureTable> auto&) {
        return std::optional<double>();
      });
}

double natural_height(const Panel& panel, double width, const Lettering& letters,
                      const TokenNames& names) {
  if (const auto shape = shape_of(panel)) return width * *shape;
  const double heading = heading_height(panel, {0, 0, width, width}, letters, names);
  const auto height_of_words = [&](const std::string& words) {
    const auto lines = letters.wrapped(words, width - letters.size(), 8);
    return std::max(0.35 * width, height_of(lines, letters) + letters.line());
  };
  return visit_body(
      panel, [&](const FigureTable& table) { return table_height(table, width, letters); },
      [&](const LeafSizes&) { return std::max(0.8 * width, 7 * letters.line()); },
      [&](const RowCurve&) { return heading + 0.5 * width; },
      [&](const one_of<SeriesPlot, CurvePlot> auto&) {
        return heading + std::min(0.72 * width, std::max(0.45 * width, 14 * letters.size()));
      },
      [&](const Message& message) { return height_of_words(message.text); },
      // Without cells.
      [&](const one_of<Raster, BlockMap, Strip, OutputPicture> auto&) {
        return height_of_words("");
      });
}

double heading_height(const Panel& panel, const Rect& body, const Lettering& letters,
                      const TokenNames& names) {
  return visit_body(
      panel, [&](const LeafSizes& leaves) { return leaf_heading_height(leaves, body, letters); },
      [&](const RowCurve& row) { return row_heading_height(row, body.width, letters, names); },
      [&](const SeriesPlot& plot) { return series_heading_height(plot, body.width, letters); },
      [&](const CurvePlot& plot) { return curves_heading_height(plot, body.width, letters); },
      [](const one_of<Message, Raster, BlockMap, Strip, OutputPicture, FigureTable> auto&) {
        return 0.0;
      });
}

void draw(const BodyDrawing& d, const FigureTable& table) {
  Ink& ink = d.ink;
  const Rect& where = d.plot.where;
  if (table.rows.empty()) return draw_message(ink, where, "nothing to list");
  const std::vector<TableRow> rows = rows_of(table, where.width, ink.letters);
  const double line = 1.2 * ink.letters.line();
  double remaining = 0;  // height of the rows that are to come
  for (const TableRow& row : rows) remaining += row.height;
  double y = where.y;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double room = where.bottom() - y + 0.01;
    if (remaining > room && rows[r].height + line > room) {  // and a line to say so
      const std::string more = "and " + std::to_string(rows.size() - r) + " more";
      ink.write({where.x, y, where.width, line}, ink.letters.elided(more, where.width), Align::left,
                ink.style.faint);
      return;
    }
    Rect at{where.x, y, where.width, line};
    Rect value_at = at;
    value_at.y += ink.letters.line() * static_cast<double>(rows[r].value_line);
    for (const std::string& words : rows[r].value) {
      ink.write(value_at, words, Align::right, ink.style.text);
      value_at.y += ink.letters.line();
    }
    for (const std::string& words : rows[r].label) {
      ink.write(at, words, Align::left, ink.style.faint);
      at.y += ink.letters.line();
    }
    y += rows[r].height;
    remaining -= rows[r].height;
    ink.line({where.x, y}, {where.right(), y}, {ink.style.grid});
  }
}

void draw_message(Ink& ink, const Rect& where, const std::string& words) {
  ink.write_paragraph(where.inset(0.5 * ink.letters.size()), words, ink.style.faint);
}

void draw(const BodyDrawing& d, const Message& message) {
  draw_message(d.ink, d.plot.where, message.text);
}

void draw(const BodyDrawing& d, const OutputPicture& picture) {
  if (picture.rows < 1 || picture.cols < 1 || picture.rgb.empty())
    return draw_message(d.ink, d.plot.where, "no picture");
  d.ink.picture(picture, d.plot.where);
}

}  // namespace fovea::drawing
