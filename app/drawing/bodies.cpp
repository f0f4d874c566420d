// What all bodies share, and those without axes: tables, messages and pictures.
#include "drawing/bodies.h"

#include <algorithm>
#include <functional>

namespace fovea::drawing {
namespace {

LeafOrder order_of(const LeafSizes& leaves) {
  LeafOrder order;
  order.count = std::max(std::ssize(leaves.queries), std::ssize(leaves.keys));
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

struct TableRow {
  std::vector<std::string> label;
  std::string value;  // beside the label's first line
  double height = 0;
};

/// A long label takes a second line: what distinguishes it from the next often stands at its end.
std::vector<TableRow> rows_of(const FigureTable& table, double width, const Lettering& letters) {
  const double gap = 0.85 * letters.size();
  std::vector<TableRow> rows;
  for (const auto& [label, value] : table.rows) {
    TableRow row{{}, letters.elided(value, 0.65 * width), 0};
    const double room = width - letters.width(row.value) - gap;
    // Leading blanks say that a row is a part of the one above it.
    if (label.starts_with(' '))
      row.label = {letters.elided(label, room)};
    else
      row.label = letters.wrapped(label, room, 3);
    row.height = std::max(letters.line(), height_of(row.label, letters)) + 0.2 * letters.line();
    rows.push_back(std::move(row));
  }
  return rows;
}

double table_height(const FigureTable& table, double width, const Lettering& letters) {
  double height = 0;
  for (const TableRow& row : rows_of(table, width, letters)) height += row.height;
  return std::max(height, 1.2 * letters.line());
}

}  // namespace

PreparedPanel::PreparedPanel(const Panel& of) : panel(&of) {
  if (const auto* raster = std::get_if<Raster>(&of.body)) contents = contents_of(*raster);
  if (const auto* sizes = std::get_if<LeafSizes>(&of.body)) leaves = order_of(*sizes);
}

Legend legend_of(const BodyDrawing& d) {
  if (const auto* leaves = std::get_if<LeafSizes>(&d.prepared.panel->body))
    return legend_of(d, *leaves);
  if (const auto* row = std::get_if<RowCurve>(&d.prepared.panel->body)) return legend_of(d, *row);
  return {};
}

void draw_body(const BodyDrawing& d) {
  std::visit([&](const auto& body) { draw(d, body); }, d.prepared.panel->body);
}

std::optional<double> shape_of(const Panel& panel) {
  double rows = 1, cols = 1;
  if (const auto* raster = std::get_if<Raster>(&panel.body)) {
    rows = raster->rows.size();
    cols = raster->cols.size();
  } else if (const auto* picture = std::get_if<OutputPicture>(&panel.body)) {
    rows = picture->rows;
    cols = picture->cols;
  } else if (!std::holds_alternative<BlockMap>(panel.body) &&
             !std::holds_alternative<Strip>(panel.body)) {
    return std::nullopt;
  }
  if (rows < 1 || cols < 1) return std::nullopt;
  return std::clamp(rows / cols, 0.2, 2.0);  // beyond, cells are stretched
}

double natural_height(const Panel& panel, double width, const Lettering& letters,
                      const TokenNames& names) {
  if (const auto shape = shape_of(panel)) return width * *shape;
  if (const auto* table = std::get_if<FigureTable>(&panel.body))
    return table_height(*table, width, letters);
  if (std::holds_alternative<LeafSizes>(panel.body))
    return std::max(0.8 * width, 7 * letters.line());
  const double heading = heading_height(panel, {0, 0, width, width}, letters, names);
  if (std::holds_alternative<RowCurve>(panel.body)) return heading + 0.5 * width;
  if (std::holds_alternative<SeriesPlot>(panel.body))
    return heading + std::min(0.72 * width, std::max(0.45 * width, 14 * letters.size()));
  const auto* message = std::get_if<Message>(&panel.body);
  const auto lines = letters.wrapped(message ? message->text : "", width - letters.size(), 8);
  return std::max(0.35 * width, height_of(lines, letters) + letters.line());
}

double heading_height(const Panel& panel, const Rect& body, const Lettering& letters,
                      const TokenNames& names) {
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body))
    return leaf_heading_height(*leaves, body, letters);
  if (const auto* row = std::get_if<RowCurve>(&panel.body))
    return row_heading_height(*row, body.width, letters, names);
  if (const auto* series = std::get_if<SeriesPlot>(&panel.body))
    return series_heading_height(*series, body.width, letters);
  return 0;
}

void draw(const BodyDrawing& d, const FigureTable& table) {
  Ink& ink = d.ink;
  const Rect& where = d.plot.where;
  const std::vector<TableRow> rows = rows_of(table, where.width, ink.letters);
  const double line = 1.2 * ink.letters.line();
  double left = 0;  // height of the rows that are to come
  for (const TableRow& row : rows) left += row.height;
  double y = where.y;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double room = where.bottom() - y + 0.01;
    if (left > room && rows[r].height + line > room) {  // and a line to say so
      const std::string more = "and " + std::to_string(rows.size() - r) + " more";
      ink.write({where.x, y, where.width, line}, ink.letters.elided(more, where.width), Align::left,
                ink.style.faint);
      return;
    }
    Rect at{where.x, y, where.width, line};
    ink.write(at, rows[r].value, Align::right, ink.style.text);
    for (const std::string& words : rows[r].label) {
      ink.write(at, words, Align::left, ink.style.faint);
      at.y += ink.letters.line();
    }
    y += rows[r].height;
    left -= rows[r].height;
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
