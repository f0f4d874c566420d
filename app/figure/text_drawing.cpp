// Tables, messages and pictures: bodies without axes.
#include <QImage>
#include <algorithm>
#include <cmath>

#include "figure/bodies.h"

namespace fovea {
namespace {

struct TableRow {
  QStringList label;
  QString value;  // beside the label's first line
  double height = 0;
};

/// A long label takes a second line: what tells it from the next often stands at its end.
std::vector<TableRow> rows_of(const FigureTable& table, double width, const Lettering& letters) {
  constexpr double gap = 6;
  std::vector<TableRow> rows;
  for (const auto& [label, value] : table.rows) {
    TableRow row{{}, letters.elided(QString::fromStdString(value), 0.65 * width), 0};
    const double room = width - letters.width(row.value) - gap;
    // Leading blanks say that a row is a part of the one above it.
    row.label = label.starts_with(' ')
                    ? QStringList(letters.elided(QString::fromStdString(label), room))
                    : letters.wrapped(QString::fromStdString(label), room, 3);
    row.height =
        letters.line() * (0.2 + static_cast<double>(std::max<qsizetype>(1, row.label.size())));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void draw_picture(Ink& ink, const QRectF& where, const OutputPicture& picture) {
  if (picture.rows < 1 || picture.cols < 1) return draw_message(ink, where, {"no picture"});
  QImage image(static_cast<int>(picture.cols), static_cast<int>(picture.rows),
               QImage::Format_RGB32);
  auto byte = [&](Index at) {
    const float value = picture.rgb[static_cast<std::size_t>(at)];
    return std::isfinite(value) ? static_cast<int>(std::lround(std::clamp(value, 0.f, 1.f) * 255))
                                : 0;
  };
  for (Index r = 0; r < picture.rows; ++r)
    for (Index c = 0; c < picture.cols; ++c) {
      const Index at = 3 * (r * picture.cols + c);
      image.setPixel(static_cast<int>(c), static_cast<int>(r),
                     qRgb(byte(at), byte(at + 1), byte(at + 2)));
    }
  draw_cells(ink, where, image);
}

double table_height(const FigureTable& table, double width, const Lettering& letters) {
  double height = 0;
  for (const TableRow& row : rows_of(table, width, letters)) height += row.height;
  return std::max(height, 1.2 * letters.line());
}

void draw_table(Ink& ink, const QRectF& where, const FigureTable& table) {
  const std::vector<TableRow> rows = rows_of(table, where.width(), ink.letters);
  const double line = 1.2 * ink.letters.line();
  double left = 0;  // height of the rows that are to come
  for (const TableRow& row : rows) left += row.height;
  double y = where.top();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double room = where.bottom() - y + 0.01;
    if (left > room && rows[r].height + line > room) {  // and a line to say so
      const QString more = QStringLiteral("and %1 more").arg(rows.size() - r);
      ink.write({where.left(), y, where.width(), line}, ink.letters.elided(more, where.width()),
                Align::left, ink.faint);
      return;
    }
    QRectF at(where.left(), y, where.width(), line);
    ink.write(at, rows[r].value, Align::right, ink.text);
    for (const QString& words : rows[r].label) {
      ink.write(at, words, Align::left, ink.faint);
      at.translate(0, ink.letters.line());
    }
    y += rows[r].height;
    left -= rows[r].height;
    ink.line({where.left(), y}, {where.right(), y}, ink.grid, 0.4);
  }
}

void draw_message(Ink& ink, const QRectF& where, const Message& message) {
  const double line = ink.letters.line();
  const int most = std::max(1, static_cast<int>((where.height() - 2) / line));
  const QStringList lines =
      ink.letters.wrapped(QString::fromStdString(message.text), where.width() - 8, most);
  const double height = line * static_cast<double>(lines.size());
  ink.write_lines({where.left(), where.center().y() - height / 2, where.width(), height}, lines,
                  Align::centre, ink.faint);
}

}  // namespace fovea
