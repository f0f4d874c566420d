// Tables, messages and pictures: bodies without axes.
#include <QImage>
#include <algorithm>
#include <cmath>

#include "figure/bodies.h"

namespace fovea {

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

void draw_table(Ink& ink, const QRectF& where, const FigureTable& table) {
  const double line = 1.2 * ink.letters.line(), gap = 6;
  const auto room =
      static_cast<std::size_t>(std::max(1.0, std::floor(where.height() / line + 0.01)));
  const bool all = table.rows.size() <= room;
  const std::size_t shown = all ? table.rows.size() : room - 1;
  for (std::size_t r = 0; r < shown; ++r) {
    const QRectF row(where.left(), where.top() + line * static_cast<double>(r), where.width(),
                     line);
    const QString value =
        ink.letters.elided(QString::fromStdString(table.rows[r].second), 0.65 * row.width());
    const QString label = ink.letters.elided(QString::fromStdString(table.rows[r].first),
                                             row.width() - ink.letters.width(value) - gap);
    ink.write(row, label, Align::left, ink.faint);
    ink.write(row, value, Align::right, ink.text);
    ink.line(row.bottomLeft(), row.bottomRight(), ink.grid, 0.4);
  }
  if (!all)
    ink.write({where.left(), where.top() + line * static_cast<double>(shown), where.width(), line},
              ink.letters.elided(QStringLiteral("and %1 more").arg(table.rows.size() - shown),
                                 where.width()),
              Align::left, ink.faint);
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
