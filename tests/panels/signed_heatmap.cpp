// Entries of P that may be negative are drawn in colours centred on 0.
#include <doctest/doctest.h>

#include "panels/scene.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the heatmap of a variant with negative entries is centred on 0, others begin at 0") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    Scene scene(make_data(Data::gaussian, 24, 3, 4, false), variant.id, {});
    const auto& raster = std::get<Raster>(scene.panel(View::heatmap).body);
    CHECK((raster.palette == Palette::diverging) == variant.signed_entries);
    if (variant.signed_entries) {
      CHECK(raster.low == -raster.high);
      CHECK(raster.high > 0);
    } else {
      CHECK(raster.low >= 0);
    }
  }
}
