#include "figure/ink.h"

#include <QFontMetricsF>
#include <QImage>
#include <QPaintDevice>
#include <QRegularExpression>

namespace fovea {
namespace {

constexpr double kPointsPerInch = 72;
// Lettering is measured large and scaled down: free of the rounding of small sizes.
constexpr double kMeasured = 100;

}  // namespace

QFont Lettering::font(double size, bool bold, int device_dpi) const {
  QFont font(QString::fromStdString(style_.font));
  font.setPointSizeF(size * kPointsPerInch / device_dpi);
  font.setBold(bold);
  font.setHintingPreference(QFont::PreferNoHinting);
  font.setKerning(true);
  return font;
}

double Lettering::width(const QString& text, double size, bool bold) const {
  QImage device(1, 1, QImage::Format_RGB32);
  device.setDotsPerMeterX(2835);  // 72 per inch: a point is a unit
  device.setDotsPerMeterY(2835);
  const QFontMetricsF metrics(font(kMeasured, bold, 72), &device);
  return metrics.horizontalAdvance(text) * (size > 0 ? size : style_.font_size) / kMeasured;
}

QString Lettering::elided(const QString& text, double room, bool bold) const {
  if (width(text, 0, bold) <= room) return text;
  qsizetype low = 0, high = text.size();
  while (low < high) {
    const qsizetype middle = (low + high + 1) / 2;
    const bool fits = width(text.left(middle).trimmed() + u'…', 0, bold) <= room;
    (fits ? low : high) = fits ? middle : middle - 1;
  }
  return low > 0 ? text.left(low).trimmed() + u'…' : QString();
}

QStringList Lettering::broken(const QString& paragraph, double room, bool bold) const {
  QString glued = paragraph;
  glued.replace(QStringLiteral(" = "), QStringLiteral("\u00a0=\u00a0"));
  glued.replace(QStringLiteral(" × "), QStringLiteral("\u00a0×\u00a0"));
  glued.replace(QStringLiteral(" %"), QStringLiteral("\u00a0%"));
  QStringList words;
  for (const QString& word : glued.split(u' ', Qt::SkipEmptyParts)) {
    if (width(word, 0, bold) <= room) {
      words << word + u' ';
      continue;
    }
    static const QRegularExpression seam(QStringLiteral("(?<=-)|(?<=[a-z])(?=[A-Z])"));
    QStringList parts = word.split(seam, Qt::SkipEmptyParts);
    parts.last() += u' ';
    words << parts;
  }
  QStringList lines;
  QString line;
  for (const QString& word : words) {
    if (!line.isEmpty() && width((line + word).trimmed(), 0, bold) > room) {
      lines << line.trimmed();
      line.clear();
    }
    line += word;
  }
  if (!line.isEmpty()) lines << line.trimmed();
  return lines;
}

QStringList Lettering::wrapped(const QString& text, double room, int most, bool bold) const {
  QStringList lines;
  for (const QString& paragraph : text.split(u'\n')) lines << broken(paragraph, room, bold);
  if (lines.size() > most) {
    lines[most - 1] = lines.mid(most - 1).join(u' ');
    lines = lines.mid(0, most);
  }
  for (QString& line : lines) line = elided(line, room, bold);
  return lines;
}

Inks inks_of(const FigureStyle& style) {
  if (style.dark)
    return {.paper = QColor(24, 26, 31),
            .text = QColor(232, 234, 237),
            .faint = QColor(154, 160, 168),
            .frame = QColor(96, 102, 112),
            .grid = QColor(52, 56, 64),
            .query = QColor(92, 168, 232),
            .key = QColor(240, 178, 42),
            .exact = QColor(72, 124, 176),
            .approximate = QColor(240, 178, 42)};
  return {.paper = Qt::white,
          .text = QColor(20, 22, 26),
          .faint = QColor(92, 97, 104),
          .frame = QColor(110, 114, 120),
          .grid = QColor(222, 225, 228),
          .query = QColor(38, 116, 190),
          .key = QColor(236, 164, 30),
          .exact = QColor(92, 150, 208),
          .approximate = QColor(204, 72, 28)};
}

void Ink::write_at(QPointF baseline, const QString& words, const QColor& colour, bool bold,
                   double size) {
  painter.setFont(letters.font(size, bold, painter.device()->logicalDpiY()));
  painter.setPen(colour);
  painter.drawText(baseline, words);
}

void Ink::write(const QRectF& where, const QString& words, Align align, const QColor& colour,
                bool bold, double size) {
  if (words.isEmpty()) return;
  if (size <= 0) size = letters.size();
  const double slack = where.width() - letters.width(words, size, bold);
  const double shift = align == Align::left ? 0 : align == Align::right ? slack : slack / 2;
  write_at({where.left() + shift, where.center().y() + letters.capitals(size) / 2}, words, colour,
           bold, size);
}

void Ink::write_upwards(const QRectF& where, const QString& words, const QColor& colour) {
  painter.save();
  painter.translate(where.center());
  painter.rotate(-90);
  write({-where.height() / 2, -where.width() / 2, where.height(), where.width()}, words,
        Align::centre, colour);
  painter.restore();
}

void Ink::write_lines(const QRectF& where, const QStringList& lines, Align align,
                      const QColor& colour, bool bold) {
  const double height = letters.line();
  double top = where.top();
  for (const QString& words : lines) {
    write({where.left(), top, where.width(), height}, words, align, colour, bold);
    top += height;
  }
}

void Ink::line(QPointF from, QPointF to, const QColor& colour, double width) {
  painter.setPen(QPen(colour, width, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(from, to);
}

void Ink::outline(const QRectF& where, const QColor& colour, double width) {
  painter.setPen(QPen(colour, width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(where);
}

void Ink::fill(const QRectF& where, const QColor& colour) {
  painter.fillRect(where, colour);
}

}  // namespace fovea
