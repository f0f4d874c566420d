// Rasters pooled for the screen, against pooling every block by itself in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "canvas/raster_painter.h"
#include "data/random.h"

using namespace fovea;
using namespace fovea::canvas;

namespace {

constexpr float masked = -std::numeric_limits<float>::infinity();

// Both signs, a masked corner, and one NaN.
Raster numbers(Index rows, Index cols, Palette palette) {
  Raster raster;
  raster.palette = palette;
  raster.rows = {0, rows}, raster.cols = {0, cols};
  raster.values = Matrix(rows, cols);
  Random random(5, 1);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      raster.values(i, j) = j > 2 * i + 4 ? masked : static_cast<float>(random.normal());
  raster.values(rows - 1, 1) = std::numeric_limits<float>::quiet_NaN();
  return raster;
}

struct Block {
  Index top, bottom, left, right;
  Block(const Raster& raster, PooledBlock b, Index r, Index c)
      : top(r * b.down),
        bottom(std::min((r + 1) * b.down, raster.values.rows())),
        left(c * b.across),
        right(std::min((c + 1) * b.across, raster.values.cols())) {}
};

double expected(const Raster& raster, const Block& block, Pool::Kind kind) {
  double most = masked, sum = 0;
  int count = 0;
  for (Index i = block.top; i < block.bottom; ++i)
    for (Index j = block.left; j < block.right; ++j) {
      const auto x = static_cast<double>(raster.values(i, j));
      if (std::isnan(x)) return x;
      if (std::isinf(x)) continue;
      const bool more =
          raster.palette == Palette::diverging ? std::abs(x) > std::abs(most) : x > most;
      if (count == 0 || more) most = x;
      sum += x;
      ++count;
    }
  return kind == Pool::Kind::mean && count > 0 ? sum / count : most;
}

}  // namespace

TEST_CASE("a raster is pooled for the screen by the largest or the mean of each block") {
  for (const Palette palette : {Palette::sequential, Palette::diverging})
    for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean})
      for (const PooledBlock block : {PooledBlock{1, 1}, {2, 3}, {5, 1}, {40, 50}}) {
        const Raster raster = numbers(33, 47, palette);
        const Matrix pooled = pooled_values(raster, block, kind);
        REQUIRE(pooled.rows() == (33 + block.down - 1) / block.down);
        REQUIRE(pooled.cols() == (47 + block.across - 1) / block.across);
        int wrong = 0, not_numbers = 0;
        for (Index r = 0; r < pooled.rows(); ++r)
          for (Index c = 0; c < pooled.cols(); ++c) {
            const double truth = expected(raster, {raster, block, r, c}, kind);
            const auto got = static_cast<double>(pooled(r, c));
            not_numbers += std::isnan(got);
            // One rounding of a mean below 8.
            wrong += !(std::isnan(truth) ? std::isnan(got)
                                         : got == truth || std::abs(got - truth) <= 4 * 0x1p-23);
          }
        CHECK(wrong == 0);
        CHECK(not_numbers == 1);
      }
}

TEST_CASE("the screen pools as chosen from two entries a pixel on, and says what it shows") {
  const auto words = [](const Raster& raster, Pool::Kind chosen, double pixels) {
    return words_of(raster, screen_pooling(raster, chosen, pixels, pixels));
  };
  using enum Pool::Kind;
  Raster entries = numbers(320, 320, Palette::sequential);
  for (const Pool::Kind chosen : {max, mean}) {
    CHECK(words(entries, chosen, 640) == "");
    CHECK(words(entries, chosen, 320) == "");
    CHECK(words(entries, chosen, 300) == "area average");
    CHECK(words(entries, chosen, 161) == "area average");
  }
  CHECK(words(entries, max, 160) == "max of 2 × 2");
  CHECK(words(entries, mean, 160) == "mean of 2 × 2");
  CHECK(words(entries, mean, 150) == "mean of 4 × 4");  // all that a pixel overlaps
  CHECK(words_of(entries, screen_pooling(entries, max, 320, 80)) == "max of 4 × 1");
  // What is pooled already stays of its kind, and its entries are counted.
  Raster pooled = entries;
  pooled.rows = pooled.cols = {0, 1280};
  pooled.pooled = mean;
  CHECK(words(pooled, max, 320) == "mean of 4 × 4");
  CHECK(words(pooled, max, 200) == "mean of 8 × 8");
  // Levels have no mean, and of categories only colours have one.
  Raster levels = entries;
  levels.palette = Palette::ranks;
  CHECK(words(levels, mean, 200) == "max of 2 × 2");
  levels.palette = Palette::categories;
  CHECK(words(levels, max, 200) == "mean colour of 2 × 2");
}

TEST_CASE("categories pooled for the screen are the mean of their colours") {
  Raster raster;
  raster.palette = Palette::categories;
  raster.values = Matrix(140, 131);
  for (Index i = 0; i < 140; ++i)
    for (Index j = 0; j < 131; ++j) raster.values(i, j) = static_cast<float>((i * j + j) % 4);
  raster.values(3, 3) = masked;
  raster.values(139, 130) = std::numeric_limits<float>::quiet_NaN();
  const Colormap& map = colormap("categories");
  for (const PooledBlock block : {PooledBlock{1, 1}, {3, 4}, {256, 256}}) {
    const auto colours =
        pooled_colours(raster, {.palette = Palette::categories, .map = &map}, block);
    REQUIRE(std::ssize(colours) == block.rows_of(raster) * block.cols_of(raster));
    double worst = 0;
    for (Index r = 0; r < block.rows_of(raster); ++r)
      for (Index c = 0; c < block.cols_of(raster); ++c)
        for (std::size_t channel = 0; channel < 3; ++channel) {
          const Block its(raster, block, r, c);
          double sum = 0;
          for (Index i = its.top; i < its.bottom; ++i)
            for (Index j = its.left; j < its.right; ++j) {
              const float v = raster.values(i, j);
              sum += std::isnan(v) ? map.not_a_number[channel]
                     : v == masked ? map.masked[channel]
                                   : map.steps[static_cast<std::size_t>(v)][channel];
            }
          const double mean =
              sum / static_cast<double>((its.bottom - its.top) * (its.right - its.left));
          const Rgb& got = colours[r * block.cols_of(raster) + c];
          worst = std::max(worst, std::abs(mean - got[channel]));
        }
    CHECK(worst <= 0.5);  // the nearest whole number
  }
}
