// Dots at the largest entries of a matrix that is shown by its means.
#include "panels/peaks.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "drawing/recording_ink.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::drawing;

namespace {

constexpr Rect plot{0, 0, 80, 80};

/// 512 x 512 small weights.
Panel small_weights() {
  Raster raster;
  raster.values = Matrix(512, 512, 1e-4f);
  raster.rows = raster.cols = {0, 512};
  raster.norm = Norm::log;
  raster.low = 1e-4, raster.high = 1;
  return {.view = find_view("heatmap"), .body = raster};
}

std::vector<Point> dots(const Panel& panel, Pool::Kind pool = Pool::Kind::mean) {
  ViewSettings settings;
  settings.pool = pool;
  std::vector<Point> at;
  for (const Operation& one : operations_of(panel, plot, settings))
    if (one.kind == "dot") at.push_back({one.where.x, one.where.y});
  return at;
}

}  // namespace

TEST_CASE("peaks are the largest of the cells of an even grid, the largest first") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  masked = -std::numeric_limits<float>::infinity();
  Matrix m(130, 65);
  m(129, 64) = -3;
  m(0, 0) = 2;
  m(5, 7) = nan;
  m(5, 8) = masked;
  m(40, 20) = 1;
  const auto peaks = peaks_of(m);
  REQUIRE(peaks.size() == 3);
  CHECK((peaks[0].row == 129 && peaks[0].col == 64 && peaks[0].value == -3));
  CHECK((peaks[1].row == 0 && peaks[1].col == 0 && peaks[1].value == 2));
  CHECK((peaks[2].row == 40 && peaks[2].col == 20 && peaks[2].value == 1));
  CHECK(peaks_of({}).empty());
}

TEST_CASE("a dot marks a large entry that the mean of its pixel hides, and nothing else does") {
  Panel panel = small_weights();
  Raster& raster = std::get<Raster>(panel.body);
  CHECK(dots(panel).empty());
  raster.values(100, 300) = 1;
  const auto found = dots(panel);
  REQUIRE(found.size() == 2);  // with its rim
  CHECK(std::abs(found[0].x - 80 * 300.5 / 512) < 1e-6);
  CHECK(std::abs(found[0].y - 80 * 100.5 / 512) < 1e-6);
  CHECK(dots(panel, Pool::Kind::max).empty());
  // The mean of many large entries hides none of them.
  for (Index r = 0; r < 512; ++r)
    for (Index c = 296; c < 304; ++c) raster.values(r, c) = 0.9f;
  CHECK(dots(panel).empty());
}

TEST_CASE("of equal entries none has a dot, nor has one that a pixel shows by itself") {
  Panel panel = small_weights();
  Raster& raster = std::get<Raster>(panel.body);
  raster.values(100, 300) = raster.values(100, 304) = 1;
  CHECK(dots(panel).empty());
  raster.values(100, 304) = 0.5f;
  CHECK(dots(panel).size() == 2);
  raster.values = Matrix(80, 80, 1e-4f);
  raster.rows = raster.cols = {0, 80};
  raster.values(10, 20) = 1;
  CHECK(dots(panel).empty());
}

TEST_CASE("means that came with their largest entries have dots, however large their pixels are") {
  Panel panel = small_weights();
  Raster& raster = std::get<Raster>(panel.body);
  raster.values = Matrix(16, 16, 1e-4f);
  raster.pooled = Pool::Kind::mean;
  CHECK(dots(panel).empty());
  raster.peaks = {{3, 5, 1.0f}, {9, 9, 0.05f}};  // the second is small beside the first
  const auto found = dots(panel);
  REQUIRE(found.size() == 2);
  CHECK((found[0].x == 27.5 && found[0].y == 17.5));
}
