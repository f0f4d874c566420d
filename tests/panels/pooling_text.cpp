#include "panels/pooling_text.h"

#include <doctest/doctest.h>

using namespace fovea;

TEST_CASE("a caption on paper begins with how the numbers are pooled") {
  Raster raster{.values = Matrix(8, 8), .rows = {0, 32}, .cols = {0, 64}};
  const auto on_paper = [&](const std::string& caption) {
    return caption_with_pooling({.caption = caption, .body = raster});
  };
  CHECK(on_paper("estimate") == "estimate");
  raster.pooled = Pool::Kind::max;
  CHECK(pooling_text(raster) == "max of 4 × 8");
  CHECK(on_paper("") == "max of 4 × 8");
  CHECK(on_paper("estimate · a") == "max of 4 × 8 · estimate · a");
  CHECK(caption_with_pooling({.caption = "a", .body = Message{"None."}}) == "a");
  raster.rows = {0, 131072};
  raster.cols = {0, 1000};
  CHECK(pooling_text(raster) == "max of 16384 × 125");  // whole numbers are written out
  raster.rows = {0, 8};
  raster.cols = {0, 8};
  CHECK(on_paper("estimate") == "estimate");
}
