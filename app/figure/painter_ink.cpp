#include "figure/painter_ink.h"

#include <QPaintEngine>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

using namespace drawing;

// Lettering is measured large and scaled down, which avoids the rounding of small sizes.
constexpr double kMeasured = 100;
constexpr double kCapitals = 0.73;     // height, in letters
constexpr double kSharpEnough = 4096;  // pixels; more only makes files larger

QImage device_of_points() {
  QImage device(1, 1, QImage::Format_RGB32);
  device.setDotsPerMeterX(2835);  // 72 per inch: a point is a unit
  device.setDotsPerMeterY(2835);
  return device;
}

/// Each cell as `factor` pixels square.
QImage enlarged(const QImage& image, int factor) {
  return image.scaled(image.width() * factor, image.height() * factor, Qt::IgnoreAspectRatio,
                      Qt::FastTransformation);
}

int whole_factor(double target, int cells) {
  return std::clamp(int(std::ceil(target / cells)), 1, 64);
}

/// Cells of a fractional number of pixels come out even: enlarged, then averaged by area.
QImage sampled(const QImage& image, QSize size) {
  if (size.width() % image.width() == 0 && size.height() % image.height() == 0)
    return image.scaled(size, Qt::IgnoreAspectRatio, Qt::FastTransformation);
  const int factor = std::max(whole_factor(size.width(), image.width()),
                              whole_factor(size.height(), image.height()));
  return enlarged(image, factor).scaled(size, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
}

QPolygonF polygon_of(std::span<const Point> points) {
  QPolygonF polygon;
  for (const Point& p : points) polygon << qpoint(p);
  return polygon;
}

}  // namespace

PaperLettering::PaperLettering(const FigureStyle& style)
    : Lettering(std::max(1.0, style.font_size - style.smaller)),
      family_(QString::fromStdString(style.font)),
      device_(device_of_points()),
      plain_(font({kMeasured}, 72), &device_),
      bold_(font({kMeasured, true}, 72), &device_) {}

double PaperLettering::width(const std::string& text, Letters face) const {
  const QFontMetricsF& metrics = face.bold ? bold_ : plain_;
  return metrics.horizontalAdvance(QString::fromStdString(text)) * size(face) / kMeasured;
}

QFont PaperLettering::font(Letters face, int device_dpi) const {
  QFont font(family_);
  font.setPointSizeF(size(face) * points_per_inch / device_dpi);
  font.setBold(face.bold);
  font.setHintingPreference(QFont::PreferNoHinting);
  font.setKerning(true);
  return font;
}

/// Whether this font has the character, or a font from which Qt takes missing characters.
bool PaperLettering::has_glyph(char32_t character) const {
  return plain_.inFontUcs4(character);
}

PainterInk::PainterInk(QPainter& target, const PaperLettering& lettering, const FigureStyle& figure)
    : Ink(lettering, paper_style(figure.dark)),
      painter(target),
      paper_letters_(lettering),
      dpi_(figure.dpi) {
  painter.setLayoutDirection(Qt::LeftToRight);  // even for a label that begins with Hebrew
}

void PainterInk::text(Point at, const std::string& words, Rgba colour, Letters face) {
  if (words.empty()) return;
  const double size = letters.size(face);
  painter.setFont(paper_letters_.font(face, painter.device()->logicalDpiY()));
  painter.setPen(qcolor(colour));
  painter.drawText(QPointF(at.x, at.y + kCapitals * size / 2), QString::fromStdString(words));
}

void PainterInk::text_upwards(Point centre, const std::string& words, Rgba colour, Letters face) {
  painter.save();
  painter.translate(qpoint(centre));
  painter.rotate(-90);
  text({-letters.width(words, face) / 2, 0}, words, colour, face);
  painter.restore();
}

QPen PainterInk::pen(const Stroke& stroke, Qt::PenCapStyle cap) const {
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  const Qt::PenStyle pattern = stroke.dashed ? Qt::DashLine : Qt::SolidLine;
  return QPen(qcolor(stroke.colour), width, pattern, cap, Qt::MiterJoin);
}

void PainterInk::line(Point from, Point to, const Stroke& stroke) {
  painter.setPen(pen(stroke));
  painter.drawLine(qpoint(from), qpoint(to));
}

void PainterInk::path(std::span<const Point> points, const Stroke& stroke) {
  painter.setPen(pen(stroke));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(polygon_of(points));
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
  painter.setPen(pen(stroke, Qt::SquareCap));
  painter.setBrush(Qt::NoBrush);
  if (rounding > 0)
    painter.drawRoundedRect(qrect(where), rounding, rounding);
  else
    painter.drawRect(qrect(where));
}

void PainterInk::polygon(std::span<const Point> corners, Rgba colour) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(qcolor(colour));
  painter.drawPolygon(polygon_of(corners));
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
  cells(place.whole, values.values.rows(), values.values.cols(), pixels_of(values.values, colours));
  if (cut) pop_clip();
}

void PainterInk::picture(const OutputPicture& picture, const Rect& where) {
  cells(where, picture.rows, picture.cols, pixels_of(picture));
}

void PainterInk::cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) {
  static_assert(sizeof(Rgba) == 4);  // as QImage has its pixels
  const QImage image(reinterpret_cast<const uchar*>(colours.data()), cols, rows, 4 * cols,
                     QImage::Format_RGBA8888);
  const bool opaque = std::ranges::all_of(colours, [](Rgba c) { return c.a == 255; });
  draw_image(where, image.convertToFormat(opaque ? QImage::Format_RGB32 : QImage::Format_ARGB32));
}

void PainterInk::push_clip(const Rect& where) {
  painter.save();
  painter.setClipRect(qrect(where), Qt::IntersectClip);
}

void PainterInk::pop_clip() {
  painter.restore();
}

void PainterInk::within(const drawing::HalfPlane& where, const std::function<void()>& draw) {
  constexpr double far = 1e5;  // points: beyond any figure
  const QPointF from = qpoint(where.from), to = qpoint(where.to);
  const QPointF along = (to - from) * (far / std::hypot(to.x() - from.x(), to.y() - from.y()));
  const QPointF across(-along.y(), along.x());
  QPainterPath part;
  part.addPolygon({{from - along, from + along, from + along + across, from - along + across}});
  painter.save();
  painter.setClipPath(part, Qt::IntersectClip);
  draw();
  painter.restore();
}

/// Keeps cell edges hard: images are sampled exactly on a screen, and scaled by a whole number in
/// vector files, whose viewers would smooth them.
void PainterInk::draw_image(const Rect& at, const QImage& image) {
  const QRectF where = qrect(at);
  if (image.isNull() || where.isEmpty()) return;
  if (painter.paintEngine()->type() != QPaintEngine::Raster) {
    const double pixels = std::max(where.width(), where.height()) / points_per_inch * dpi_;
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
