// Panels of one row whose numbers have different ranges: one scale must hold them all.
#include <doctest/doctest.h>

#include <QPainter>

#include "drawing/colormap.h"
#include "figure/panels.h"
#include "figure/recorder.h"

using namespace fovea;

namespace {

// Every value is the same; the range is that of a larger picture.
Panel flat(float value, double high) {
  Panel panel = example::heatmap(8, 1, "flat");
  panel.subtitle.clear();
  auto& raster = std::get<Raster>(panel.body);
  raster.values = Matrix(8, 8, value);
  raster.norm = Norm::linear;
  raster.low = 0;
  raster.high = high;
  return panel;
}

Panel curve(float top, const char* quantity) {
  Panel panel = example::strip(40, "curve");
  panel.subtitle.clear();
  auto& strip = std::get<Strip>(panel.body);
  strip.quantity = quantity;
  strip.values.assign(40, 0.1f * top);
  strip.values[20] = top;
  return panel;
}

Figure row_of(std::vector<Panel> panels, bool shared) {
  Figure figure;
  figure.rows = {std::move(panels)};
  figure.style.width = 400;
  figure.style.settings.shared_range = shared;
  return figure;
}

// How many pixels have the colour of this share of the scale.
int pixels_of(const Figure& figure, double share) {
  QImage image(400, static_cast<int>(figure_height(figure)) + 1, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  draw_figure(painter, figure);
  painter.end();
  const auto& steps = colormap_for(Palette::sequential, figure.style.settings.colormap).steps;
  const auto& c = steps[static_cast<std::size_t>(std::lround(share * 255))];
  int found = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const QRgb at = image.pixel(x, y);
      // One step of 256 either way, which is how far a share may be rounded.
      found +=
          std::abs(qRed(at) - c[0]) + std::abs(qGreen(at) - c[1]) + std::abs(qBlue(at) - c[2]) <= 6;
    }
  return found;
}

QStringList texts_of(const Figure& figure) {
  QStringList all;
  for (const auto& drawn : example::record(figure).texts) all << drawn.text;
  return all;
}

}  // namespace

TEST_CASE("panels that share a colour range share the one that holds them all") {
  example::application();
  const Panel low = flat(0.5f, 1), high = flat(0.5f, 2);
  for (const auto& panels : {std::vector{low, high}, {high, low}}) {
    // Two bodies of about 180 x 180 points, both at a quarter of the range up to 2.
    CHECK(pixels_of(row_of(panels, true), 0.25) > 40000);
    CHECK(pixels_of(row_of(panels, true), 0.5) < 2000);
    // Each by itself: one at a quarter, the other at a half.
    for (const double share : {0.25, 0.5}) {
      const int found = pixels_of(row_of(panels, false), share);
      CHECK((found > 20000 && found < 40000));
    }
  }
  const QStringList one = texts_of(row_of({low, high}, true)),
                    two = texts_of(row_of({high, low}, true));
  CHECK(one == two);
  CHECK(one.contains(QStringLiteral("2.0")));
}

TEST_CASE("curves of one quantity share the highest top, those of another have their own") {
  example::application();
  const Panel low = curve(0.5f, "a"), high = curve(4, "a"), other = curve(0.5f, "b");
  for (const auto& panels : {std::vector{low, high}, {high, low}}) {
    const QStringList texts = texts_of(row_of(panels, true));
    CHECK(texts.count(QStringLiteral("4")) == 2);  // the same numbers below both
    CHECK_FALSE(texts.contains(QStringLiteral("0.4")));
    const QStringList apart = texts_of(row_of(panels, false));
    CHECK(apart.contains(QStringLiteral("4")));
    CHECK(apart.contains(QStringLiteral("0.4")));
  }
  const QStringList texts = texts_of(row_of({high, other}, true));
  CHECK(texts.contains(QStringLiteral("4")));
  CHECK(texts.contains(QStringLiteral("0.4")));
}
