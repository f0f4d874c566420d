// Tables, messages and pictures: bodies without axes.
#include <algorithm>
#include <cmath>

#include "drawing/bodies.h"

namespace fovea::drawing {
namespace {

struct TableRow {
  std::vector<std::string> label;
  std::string value;  // beside the label's first line
  double height = 0;
};

/// A long label takes a second line: what tells it from the next often stands at its end.
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
    row.height =
        letters.line() * (0.2 + static_cast<double>(std::max<std::size_t>(1, row.label.size())));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

double table_height(const FigureTable& table, double width, const Lettering& letters) {
  double height = 0;
  for (const TableRow& row : rows_of(table, width, letters)) height += row.height;
  return std::max(height, 1.2 * letters.line());
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
