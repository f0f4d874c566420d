// Pictures against golden ones; FOVEA_UPDATE_GOLDEN=1 makes them anew.
#include <doctest/doctest.h>

#include <QImage>
#include <QPainter>
#include <cstdlib>

#include "figure/panels.h"

using namespace fovea;

namespace {

constexpr double kScale = 1.5;

QImage drawn(const Panel& panel, bool dark) {
  Figure figure{.rows = {{panel}}};
  figure.style.width = 140;
  figure.style.dark = dark;
  QImage image(static_cast<int>(140 * kScale), static_cast<int>(figure_height(figure) * kScale),
               QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.scale(kScale, kScale);
  draw_figure(painter, figure);
  return image;
}

/// Share of pixels that differ by more than 2/255 in a channel.
double difference(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return 1;
  int differing = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const QColor p = a.pixelColor(x, y), q = b.pixelColor(x, y);
      differing += std::abs(p.red() - q.red()) > 2 || std::abs(p.green() - q.green()) > 2 ||
                   std::abs(p.blue() - q.blue()) > 2;
    }
  return static_cast<double>(differing) / (a.width() * a.height());
}

}  // namespace

TEST_CASE("every kind of panel looks as it did") {
  example::application();
  const char* names[] = {"heatmap", "error", "mask",  "level",   "rank",  "leaves",
                         "buckets", "row",   "strip", "picture", "table", "message"};
  const auto panels = example::every_kind(64);
  REQUIRE(panels.size() == std::size(names));
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const std::string name = names[p];
    CAPTURE(name);
    const QString path = QString::fromStdString(FOVEA_TESTS "/figure/golden/" + name + ".png");
    const QImage image = drawn(panels[p], false);
    if (std::getenv("FOVEA_UPDATE_GOLDEN")) REQUIRE(image.save(path));
    const QImage golden(path);
    REQUIRE_FALSE(golden.isNull());
    // Lettering, under 4 % of these pictures, may be rasterised otherwise by another FreeType.
    CHECK(difference(image, golden.convertToFormat(QImage::Format_RGB32)) < 0.04);
    CHECK(difference(image, drawn(panels[p], true)) > 0.04);  // the comparison can fail
  }
}
