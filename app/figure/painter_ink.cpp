#include "figure/painter_ink.h"

#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

using namespace drawing;

constexpr double kPointsPerInch = 72;
// Lettering is measured large and scaled down: free of the rounding of small sizes.
constexpr double kMeasured = 100;
constexpr double kCapitals = 0.73;     // height, in letters
constexpr double kSharpEnough = 4096;  // pixels; more only makes files larger

QImage device_of_points() {
  QImage device(1, 1, QImage::Format_RGB32);
  device.setDotsPerMeterX(2835);  // 72 per inch: a point is a unit
  device.setDotsPerMeterY(2835);
  return device;
}

QFont font_of(const QString& family, double size, bool bold, int device_dpi) {
  QFont font(family);
  font.setPointSizeF(size * kPointsPerInch / device_dpi);
  font.setBold(bold);
  font.setHintingPreference(QFont::PreferNoHinting);
  font.setKerning(true);
  return font;
}

bool draws_pixels(QPainter& painter) {
  const QPaintEngine* engine = painter.paintEngine();
  return engine && engine->type() == QPaintEngine::Raster;
}

/// Each cell as `factor` pixels square.
QImage enlarged(const QImage& image, int factor) {
  return image.scaled(image.width() * factor, image.height() * factor, Qt::IgnoreAspectRatio,
                      Qt::FastTransformation);
}

int whole_factor(double target, int cells) {
  return std::clamp(static_cast<int>(std::ceil(target / cells)), 1, 64);
}

/// Cells of a fractional number of pixels come out even: enlarged, then averaged by area.
QImage sampled(const QImage& image, QSize size) {
  if (size.width() % image.width() == 0 && size.height() % image.height() == 0)
    return image.scaled(size, Qt::IgnoreAspectRatio, Qt::FastTransformation);
  const int factor = std::max(whole_factor(size.width(), image.width()),
                              whole_factor(size.height(), image.height()));
  return enlarged(image, factor).scaled(size, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
}

QImage image_of(const Raster& raster, const ValueColours& colours) {
  QImage image(static_cast<int>(raster.values.cols()), static_cast<int>(raster.values.rows()),
               QImage::Format_RGB32);
  for (int r = 0; r < image.height(); ++r) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(r));
    for (int c = 0; c < image.width(); ++c) {
      const Rgb colour = colours.colour(raster.values(r, c));
      line[c] = qRgb(colour[0], colour[1], colour[2]);
    }
  }
  return image;
}

QImage image_of(const OutputPicture& picture) {
  QImage image(static_cast<int>(picture.cols), static_cast<int>(picture.rows),
               QImage::Format_RGB32);
  const auto byte = [&](Index at) {
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
  return image;
}

}  // namespace

PaperLettering::PaperLettering(const FigureStyle& style)
    : Lettering(style.font_size),
      family_(QString::fromStdString(style.font)),
      device_(device_of_points()),
      plain_(font_of(family_, kMeasured, false, 72), &device_),
      bold_(font_of(family_, kMeasured, true, 72), &device_) {}

double PaperLettering::width(const std::string& text, double size, bool bold) const {
  const QFontMetricsF& metrics = bold ? bold_ : plain_;
  return metrics.horizontalAdvance(QString::fromStdString(text)) *
         (size > 0 ? size : this->size()) / kMeasured;
}

QFont PaperLettering::font(double size, bool bold, int device_dpi) const {
  return font_of(family_, size, bold, device_dpi);
}

PainterInk::PainterInk(QPainter& on, const PaperLettering& lettering, const FigureStyle& in)
    : Ink(lettering, paper_style(in.dark)), painter(on), paper_letters_(lettering), dpi_(in.dpi) {}

void PainterInk::text(Point at, const std::string& words, Rgba colour, Letters face) {
  if (words.empty()) return;
  const double size = face.size > 0 ? face.size : letters.size();
  painter.setFont(paper_letters_.font(size, face.bold, painter.device()->logicalDpiY()));
  painter.setPen(qcolor(colour));
  painter.drawText(QPointF(at.x, at.y + kCapitals * size / 2), QString::fromStdString(words));
}

void PainterInk::text_upwards(Point centre, const std::string& words, Rgba colour, Letters face) {
  painter.save();
  painter.translate(qpoint(centre));
  painter.rotate(-90);
  text({-letters.width(words, face.size, face.bold) / 2, 0}, words, colour, face);
  painter.restore();
}

void PainterInk::line(Point from, Point to, const Stroke& stroke) {
  const Qt::PenStyle pattern = stroke.dashed ? Qt::DashLine : Qt::SolidLine;
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  painter.setPen(QPen(qcolor(stroke.colour), width, pattern, Qt::FlatCap));
  painter.drawLine(qpoint(from), qpoint(to));
}

void PainterInk::path(std::span<const Point> points, const Stroke& stroke) {
  QPolygonF polygon;
  for (const Point& p : points) polygon << qpoint(p);
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  painter.setPen(QPen(qcolor(stroke.colour), width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(polygon);
}

void PainterInk::fill(const Rect& where, Rgba colour, double rounding) {
  if (rounding <= 0) return painter.fillRect(qrect(where), qcolor(colour));
  painter.setPen(Qt::NoPen);
  painter.setBrush(qcolor(colour));
  painter.drawRoundedRect(qrect(where), rounding, rounding);
}

void PainterInk::fill_all(std::span<const Rect> where, Rgba colour) {
  QPainterPath all;
  all.setFillRule(Qt::WindingFill);
  for (const Rect& one : where) all.addRect(qrect(one));
  painter.fillPath(all, qcolor(colour));
}

void PainterInk::outline(const Rect& where, const Stroke& stroke, double rounding) {
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  painter.setPen(QPen(qcolor(stroke.colour), width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  if (rounding > 0)
    painter.drawRoundedRect(qrect(where), rounding, rounding);
  else
    painter.drawRect(qrect(where));
}

void PainterInk::triangle(Point a, Point b, Point c, Rgba colour) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(qcolor(colour));
  painter.drawPolygon(QPolygonF() << qpoint(a) << qpoint(b) << qpoint(c));
}

void PainterInk::dot(Point centre, double radius, Rgba colour) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(qcolor(colour));
  painter.drawEllipse(qpoint(centre), radius, radius);
}

void PainterInk::raster(const Raster& values, const ValueColours& colours,
                        const RasterPlace& place) {
  if (place.seen.empty()) return;
  const bool cut = place.seen.width < place.whole.width || place.seen.height < place.whole.height;
  if (cut) push_clip(place.seen);
  draw_image(place.whole, image_of(values, colours));
  if (cut) pop_clip();
}

void PainterInk::picture(const OutputPicture& picture, const Rect& where) {
  draw_image(where, image_of(picture));
}

void PainterInk::cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) {
  QImage image(cols, rows, QImage::Format_ARGB32);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      image.setPixelColor(c, r, qcolor(colours[static_cast<std::size_t>(r * cols + c)]));
  draw_image(where, image);
}

void PainterInk::push_clip(const Rect& where) {
  painter.save();
  painter.setClipRect(qrect(where), Qt::IntersectClip);
}

void PainterInk::pop_clip() {
  painter.restore();
}

/// With hard cell edges: sampled exactly on a screen, scaled by a whole number in files of vectors,
/// whose viewers would smooth it.
void PainterInk::draw_image(const Rect& at, const QImage& image) {
  const QRectF where = qrect(at);
  if (image.isNull() || where.isEmpty()) return;
  if (!draws_pixels(painter)) {
    const double pixels = std::max(where.width(), where.height()) / kPointsPerInch * dpi_;
    const int factor =
        whole_factor(std::min(pixels, kSharpEnough), std::max(image.width(), image.height()));
    painter.drawImage(where, enlarged(image, factor));
    return;
  }
  const QRect pixels = painter.deviceTransform().mapRect(where).toRect();
  if (pixels.isEmpty()) return;
  painter.save();
  painter.setWorldMatrixEnabled(false);
  painter.drawImage(pixels.topLeft(), sampled(image, pixels.size()));
  painter.restore();
}

}  // namespace fovea
