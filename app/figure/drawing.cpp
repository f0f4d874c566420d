#include "figure/drawing.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <cmath>
#include <ostream>

#include "data/error.h"
#include "drawing/ticks.h"
#include "figure/figure.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

constexpr double kPointsPerInch = 72;
constexpr int kMostSide = 32767;           // pixels; beyond, QPainter's coordinates overflow,
constexpr double kMostBytes = 2147483647;  // and beyond this its offsets: it crashes

void draw_or_throw(QPainter& painter, const Drawing& drawing) {
  if (!painter.isActive()) throw UnavailableError("the figure is too large to be drawn");
  drawing.draw(painter);
  painter.end();
}

void draw_png(QBuffer& out, const Drawing& drawing) {
  const double scale = drawing.dpi / kPointsPerInch;
  const double wide = std::ceil(drawing.points.width() * scale - 1e-6),
               high = std::ceil(drawing.points.height() * scale - 1e-6);
  const auto refusal = [&](const std::string& why) {
    return UnavailableError("a picture of " + drawing::number_text(wide, 6) + " x " +
                            drawing::number_text(high, 6) + " pixels: " + why);
  };
  if (std::max(wide, high) > kMostSide || 4 * wide * high > kMostBytes)
    throw refusal("at most " + std::to_string(kMostSide) +
                  " a side and 2 GiB can be drawn; fewer dots an inch, or PDF or SVG");
  QImage image(static_cast<int>(wide), static_cast<int>(high), QImage::Format_RGB32);
  if (image.isNull()) throw refusal("no memory for it");
  image.fill(drawing.dark ? QColor(24, 26, 31) : QColor(Qt::white));
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_or_throw(painter, drawing);
  image.setDotsPerMeterX(static_cast<int>(std::lround(drawing.dpi / 0.0254)));
  image.setDotsPerMeterY(image.dotsPerMeterX());
  image.setText(QStringLiteral("Title"), drawing.title);
  image.setText(QStringLiteral("Software"), QStringLiteral("Fovea"));
  if (!image.save(&out, "PNG")) throw UnavailableError("the picture could not be encoded as PNG");
}

void draw_svg(QBuffer& out, const Drawing& drawing) {
  QSvgGenerator generator;
  generator.setOutputDevice(&out);
  generator.setResolution(static_cast<int>(kPointsPerInch));  // a point is a unit
  generator.setSize(drawing.points.toSize());
  generator.setViewBox(QRectF(QPointF(0, 0), drawing.points));
  generator.setTitle(drawing.title);
  generator.setDescription(drawing.description);
  QPainter painter(&generator);
  draw_or_throw(painter, drawing);
}

void draw_pdf(QBuffer& out, const Drawing& drawing) {
  constexpr int resolution = 1200;
  QPdfWriter writer(&out);
  writer.setTitle(drawing.title);
  writer.setCreator(QStringLiteral("Fovea"));
  writer.setResolution(resolution);
  writer.setPageSize(QPageSize(drawing.points, QPageSize::Point, QString(), QPageSize::ExactMatch));
  writer.setPageMargins(QMarginsF(0, 0, 0, 0));
  QPainter painter(&writer);
  painter.scale(resolution / kPointsPerInch, resolution / kPointsPerInch);
  draw_or_throw(painter, drawing);
}

}  // namespace

void write_drawing(const std::string& path, const Drawing& drawing) {
  const QString ending = QFileInfo(QString::fromStdString(path)).suffix().toLower();
  QBuffer out;
  out.open(QIODevice::WriteOnly);
  if (ending == QStringLiteral("png")) {
    draw_png(out, drawing);
  } else if (ending == QStringLiteral("svg")) {
    draw_svg(out, drawing);
  } else if (ending == QStringLiteral("pdf")) {
    draw_pdf(out, drawing);
  } else {
    throw UsageError(path + ": a figure's name ends in .png, .svg or .pdf");
  }
  out.close();
  write_atomically(path, [&](std::ostream& file) { file.write(out.data().data(), out.size()); });
}

Drawing drawing_of(const Figure& figure) {
  return {.title = QString::fromStdString(figure.title.empty() ? "Attention" : figure.title),
          .description = QString::fromStdString(figure.footer),
          .points = {figure.style.width, figure_height(figure)},
          .dpi = figure.style.dpi,
          .dark = figure.style.dark,
          .draw = [&figure](QPainter& painter) { draw_figure(painter, figure); }};
}

void write_figure(const std::string& path, const Figure& figure) {
  write_drawing(path, drawing_of(figure));
}

}  // namespace fovea
