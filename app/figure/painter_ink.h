// A PainterInk draws with a QPainter, in points: on images, and in SVG and PDF files.
#pragma once

#include <QColor>
#include <QFont>
#include <QFontMetricsF>
#include <QImage>
#include <QPainter>
#include <QRectF>

#include "drawing/ink.h"
#include "figure/figure.h"

namespace fovea {

/// Measures text in points, the same for every device, so that a figure is laid out once.
class PaperLettering : public drawing::Lettering {
 public:
  explicit PaperLettering(const FigureStyle& style);
  double width(const std::string& text, drawing::Letters face = {}) const override;
  QFont font(drawing::Letters face, int device_dpi) const;

 protected:
  bool has_glyph(char32_t character) const override;

 private:
  QString family_;
  QImage device_;
  QFontMetricsF plain_, bold_;
};

class PainterInk : public drawing::Ink {
 public:
  using Point = drawing::Point;
  using Rect = drawing::Rect;
  using Rgba = drawing::Rgba;

  /// The painter and the lettering must outlive it.
  PainterInk(QPainter& target, const PaperLettering& lettering, const FigureStyle& figure);

  void text(Point at, const std::string& words, Rgba colour, drawing::Letters face = {}) override;
  void text_upwards(Point centre, const std::string& words, Rgba colour,
                    drawing::Letters face = {}) override;
  void line(Point from, Point to, const drawing::Stroke& stroke) override;
  void path(std::span<const Point> points, const drawing::Stroke& stroke) override;
  void fill(const Rect& where, Rgba colour, double rounding = 0) override;
  void fill_all(std::span<const Rect> where, Rgba colour) override;
  void outline(const Rect& where, const drawing::Stroke& stroke, double rounding = 0) override;
  void polygon(std::span<const Point> corners, Rgba colour) override;
  void dot(Point centre, double radius, Rgba colour) override;
  void raster(const Raster& values, const ValueColours& colours,
              const drawing::RasterPlace& place) override;
  void picture(const OutputPicture& picture, const Rect& where) override;
  void cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) override;
  void push_clip(const Rect& where) override;
  void pop_clip() override;
  void within(const drawing::HalfPlane& where, const std::function<void()>& draw) override;

  QPainter& painter;

 private:
  QPen pen(const drawing::Stroke& stroke, Qt::PenCapStyle cap = Qt::FlatCap) const;
  void draw_image(const Rect& where, const QImage& image);

  const PaperLettering& paper_letters_;
  int dpi_;  // of images in files of vectors
};

inline QRectF qrect(const drawing::Rect& r) {
  return {r.x, r.y, r.width, r.height};
}
inline QPointF qpoint(drawing::Point p) {
  return {p.x, p.y};
}
inline QColor qcolor(drawing::Rgba c) {
  return {c.r, c.g, c.b, c.a};
}

}  // namespace fovea
