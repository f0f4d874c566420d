// Ink is what everything in a figure is drawn with: one painter, its colours and its lettering.
#pragma once

#include <QColor>
#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QStringList>

#include "figure/figure.h"

namespace fovea {

/// Measures text in points, the same for every device, so that a figure is laid out once.
class Lettering {
 public:
  explicit Lettering(const FigureStyle& style) : style_(style) {}

  double size() const { return style_.font_size; }
  double line() const { return 1.25 * style_.font_size; }
  QFont font(double size, bool bold, int device_dpi) const;
  double width(const QString& text, double size = 0, bool bold = false) const;
  QString elided(const QString& text, double room, bool bold = false) const;
  /// Lines broken at spaces, and at the seams of words too long for a line; the last one elided
  /// when `most` lines do not hold all.
  QStringList wrapped(const QString& text, double room, int most, bool bold = false) const;
  /// Height of capitals, for centring.
  double capitals(double size) const { return 0.73 * size; }

 private:
  QStringList broken(const QString& paragraph, double room, bool bold) const;

  FigureStyle style_;
};

struct Inks {
  QColor paper, text, faint, frame, grid, query, key, exact, approximate;
};
Inks inks_of(const FigureStyle& style);

enum class Align { left, centre, right };

class Ink : public Inks {
 public:
  Ink(QPainter& on, const FigureStyle& in)
      : Inks(inks_of(in)), painter(on), style(in), letters(in) {}

  /// One line, vertically centred in the rectangle; never clipped: elide before.
  void write(const QRectF& where, const QString& words, Align align, const QColor& colour,
             bool bold = false, double size = 0);
  /// The same, read from below to above.
  void write_upwards(const QRectF& where, const QString& words, const QColor& colour);
  void write_lines(const QRectF& where, const QStringList& lines, Align align, const QColor& colour,
                   bool bold = false);
  void line(QPointF from, QPointF to, const QColor& colour, double width = 0.5);
  void outline(const QRectF& where, const QColor& colour, double width = 0.5);
  void fill(const QRectF& where, const QColor& colour);

  QPainter& painter;
  const FigureStyle& style;
  const Lettering letters;

 private:
  void write_at(QPointF baseline, const QString& words, const QColor& colour, bool bold,
                double size);
};

}  // namespace fovea
