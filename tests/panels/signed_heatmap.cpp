// Entries of P that may be negative are drawn in colours centred on 0.
#include <doctest/doctest.h>

#include "panels/scene.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

void check_colours(const std::string& variant, const Settings& settings, bool negative) {
  CAPTURE(variant);
  const bool causal = !find_variant(variant).has_bidirectional_form();
  Scene scene(make_data(Data::gaussian, 24, 3, 4, causal), variant, settings);
  const Panel panel = scene.panel(find_view("heatmap"));
  const auto& raster = std::get<Raster>(panel.body);
  CHECK((raster.palette == Palette::diverging) == negative);
  if (negative) {
    CHECK(raster.low == -raster.high);
    CHECK(raster.high > 0);
  } else {
    CHECK(raster.low >= 0);
  }
}

}  // namespace

TEST_CASE("the heatmap of a plan with negative entries is centred on 0, others begin at 0") {
  for (const Variant& variant : variants())
    check_colours(variant.id, {},
                  variant.id == "linformer" || (variant.has_recurrent_form && !variant.reference));
  check_colours("tc", {{"height", "1"}, {"alpha", "1.5,-0.5"}}, true);
  check_colours("tc", {{"height", "1"}, {"alpha", "0.5,0.5"}}, false);
}
