#include <QImage>
#include <QPaintEngine>
#include <algorithm>
#include <cmath>

#include "figure/bodies.h"

namespace fovea {
namespace {

constexpr double kSharpEnough = 4096;  // pixels; more only makes files larger

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

/// Shares of rows as colours in the gap beside the raster; of the rows behind one line the
/// greatest.
void draw_row_shares(Ink& ink, const QRectF& where, const std::vector<float>& shares) {
  constexpr double kGap = 0.4, kWidth = 1.6;  // as wide as the margin of a figure allows
  // Fewer than are drawn: lines that are not known must not be blended with those that are.
  constexpr std::size_t kMost = 512;
  const auto lines = static_cast<int>(std::min(shares.size(), kMost));
  const Colormap& map = colormap_for(Palette::sequential, ink.style.colormap);
  QImage image(1, lines, QImage::Format_RGB32);
  image.fill(Qt::white);  // not known
  for (int line = 0; line < lines; ++line) {
    const auto at = [&](int l) {
      return static_cast<std::size_t>(l) * shares.size() / static_cast<std::size_t>(lines);
    };
    float most = -1;
    for (std::size_t i = at(line); i < at(line + 1); ++i)
      if (shares[i] > most) most = shares[i];  // NaN is not
    if (most < 0) continue;
    // By a root: small shares shall be told from none.
    const Rgb c = map.steps[static_cast<std::size_t>(255 * std::sqrt(std::min(most, 1.0f)))];
    image.setPixel(0, line, qRgb(c[0], c[1], c[2]));
  }
  draw_cells(ink, {where.right() + kGap, where.top(), kWidth, where.height()}, image);
}

}  // namespace

void draw_cells(Ink& ink, const QRectF& where, const QImage& image) {
  if (image.isNull() || where.isEmpty()) return;
  QPainter& painter = ink.painter;
  if (!draws_pixels(painter)) {
    const double pixels = std::max(where.width(), where.height()) / 72 * ink.style.dpi;
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

QImage image_of(const Raster& raster, const ColourScale& scale) {
  const Index rows = raster.values.rows(), cols = raster.values.cols();
  QImage image(static_cast<int>(cols), static_cast<int>(rows), QImage::Format_RGB32);
  for (Index r = 0; r < rows; ++r) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(r)));
    for (Index c = 0; c < cols; ++c) {
      const Rgb colour = scale.colour(raster.values(r, c));
      line[c] = qRgb(colour[0], colour[1], colour[2]);
    }
  }
  return image;
}

void draw_raster(Ink& ink, const QRectF& where, const Raster& raster, const ColourScale& scale) {
  if (raster.values.empty()) return draw_message(ink, where, {"no entries in view"});
  draw_cells(ink, where, image_of(raster, scale));
  if (!raster.row_shares.empty()) draw_row_shares(ink, where, raster.row_shares);
}

}  // namespace fovea
