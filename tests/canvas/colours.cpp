// The colours of numbers on the canvas, which a shader finds, are those of figures.
#include <algorithm>
#include <limits>

#include "run_tests.h"
#include "shown.h"
#include "views/views.h"

using namespace fovea;

TEST_CASE("a cell has the colour of its number, special values their own" *
          doctest::test_suite("pictures")) {
  auto model = base_model(16, 1);
  model->views = {find_view("heatmap")};
  Raster raster = heat(16, 16);
  raster.norm = Norm::linear, raster.low = 0, raster.high = 1;
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j) raster.values(i, j) = static_cast<float>(i) / 15.0f;
  raster.values(0, 0) = std::numeric_limits<float>::quiet_NaN();
  raster.values(0, 1) = -std::numeric_limits<float>::infinity();
  raster.values(0, 2) = 2, raster.values(0, 3) = -1;
  model->cells = {{cell_of(raster)}};
  Shown shown(model);
  const QImage image = shown.picture();
  const Colormap& map = colormap("viridis");
  const auto at = [&](int i, int j) {
    return pixel(shown, image, inside(shown, 0, (j + 0.2) / 16, (i + 0.2) / 16));
  };
  CHECK(near(at(0, 0), rgb(map.not_a_number)));
  CHECK(near(at(0, 1), rgb(map.masked)));
  CHECK(near(at(0, 2), rgb(map.over)));
  CHECK(near(at(0, 3), rgb(map.under)));
  for (const int i : {1, 6, 11, 15}) {
    CAPTURE(i);
    const double t = normalised(static_cast<float>(i) / 15.0f, 0, 1, Norm::linear, 1e-4);
    CHECK(near(at(i, 8), rgb(map.steps[static_cast<std::size_t>(std::min(t * 256, 255.0))])));
  }
}

TEST_CASE("every norm has the colours that a figure has, pooled to pixels too" *
          doctest::test_suite("pictures")) {
  // Rows of one number each, as many as a panel has pixels thrice: a pixel shows the largest.
  const Index n = 1536;
  for (const Palette palette : {Palette::sequential, Palette::diverging})
    for (const Norm norm : {Norm::linear, Norm::log})
      for (const Index rows : {Index{24}, n}) {
        auto model = base_model(rows, 1);
        model->views = {find_view("heatmap")};
        Raster raster = heat(rows, rows);
        raster.palette = palette, raster.norm = norm;
        raster.low = palette == Palette::diverging ? -1 : 0, raster.high = 1;
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < rows; ++j) {
            const double share = static_cast<double>(i * 24 / rows) / 23;
            const double v = palette == Palette::diverging ? 2 * share - 1 : share;
            raster.values(i, j) = static_cast<float>(v * std::abs(v));
          }
        model->cells = {{cell_of(raster)}};
        Shown shown(model);
        const QImage image = shown.picture();
        const ValueColours colours{.palette = palette,
                                   .map = &colormap_for(palette, "viridis"),
                                   .norm = norm,
                                   .low = raster.low,
                                   .high = raster.high,
                                   .log_floor = model->settings.log_floor};
        for (int band = 0; band < 24; ++band) {
          CAPTURE(int(palette));
          CAPTURE(int(norm));
          CAPTURE(rows);
          CAPTURE(band);
          const auto value = static_cast<double>(raster.values(band * rows / 24, 0));
          const QRgb got = pixel(shown, image, inside(shown, 0, 0.3, (band + 0.4) / 24));
          // A step of 256 more or less: the logarithm is the graphics card's.
          bool known = false;
          for (const double nudge : {1.0, 0.97, 1.03, 0.99, 1.01})
            known = known || near(got, rgb(colours.colour(value * nudge)));
          CHECK(known);
        }
      }
}

TEST_CASE("differences that are all 0 have the colour of the middle, as in a figure" *
          doctest::test_suite("pictures")) {
  for (const Norm norm : {Norm::linear, Norm::log}) {
    auto model = base_model(24, 1);
    model->views = {find_view("heatmap")};
    Raster raster = heat(24, 24);
    raster.palette = Palette::diverging, raster.norm = norm;
    raster.low = raster.high = 0;
    raster.values = Matrix(24, 24);
    model->cells = {{cell_of(raster)}};
    Shown shown(model);
    const ValueColours colours{.palette = raster.palette,
                               .map = &colormap_for(raster.palette, "viridis"),
                               .norm = norm,
                               .low = 0,
                               .high = 0};
    const QRgb got = pixel(shown, shown.picture(), inside(shown, 0, 0.5, 0.5));
    CHECK(near(got, rgb(colours.colour(0))));
    CHECK(qRed(got) > 230);
  }
}
