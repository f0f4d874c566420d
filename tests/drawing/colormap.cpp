// Colours: where numbers lie in a range, and that maps can be read by everyone.
#include "drawing/colormap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/error.h"

using namespace fovea;

namespace {

/// CIE L*, 0..100, of an sRGB colour.
double lightness(const Rgb& c) {
  auto linear = [](double v) {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double y = 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

double distance(const Rgb& a, const Rgb& b) {
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("normalised: the ends of a range are 0 and 1, and it grows with the value") {
  for (const Norm norm : {Norm::linear, Norm::log, Norm::row_max}) {
    const double low = 1e-3, high = 0.5;
    CHECK(normalised(low, low, high, norm, 1e-4) == doctest::Approx(0));
    CHECK(normalised(high, low, high, norm, 1e-4) == doctest::Approx(1));
    double before = -1;
    for (double v = low; v < high; v += 0.01) {
      const double t = normalised(v, low, high, norm, 1e-4);
      CHECK(t > before);
      before = t;
    }
    CHECK(normalised(low / 2, low, high, norm, 1e-4) < 0);
    CHECK(normalised(high * 2, low, high, norm, 1e-4) > 1);
    CHECK(std::isnan(normalised(std::nan(""), low, high, norm, 1e-4)));
  }
}

TEST_CASE("differences that are all 0 have the colour of the middle, not of the most negative") {
  ValueColours colours;
  colours.map = &colormap_for(Palette::diverging, "viridis");
  colours.palette = Palette::diverging;
  colours.low = colours.high = 0;
  for (const Norm norm : {Norm::linear, Norm::log}) {
    colours.norm = norm;
    CHECK(colours.share_of(0) == 0.5);
    const Rgb middle = colours.colour(0);
    for (const int channel : middle) CHECK(channel > 230);
  }
}

TEST_CASE("normalised: log starts at the floor, and nothing is under it") {
  CHECK(normalised(1e-4, 0, 1, Norm::log, 1e-4) == doctest::Approx(0));
  CHECK(normalised(1e-2, 0, 1, Norm::log, 1e-4) == doctest::Approx(0.5));
  CHECK(normalised(0, 0, 1, Norm::log, 1e-4) < 0);
  CHECK(normalised(-1, 0, 1, Norm::log, 1e-4) < 0);
  // Centred on 0: both signs, the ends at the ends, even in between.
  CHECK(normalised(0, -2, 2, Norm::log, 1e-4) == doctest::Approx(0.5));
  CHECK(normalised(2, -2, 2, Norm::log, 1e-4) == doctest::Approx(1));
  CHECK(normalised(-2, -2, 2, Norm::log, 1e-4) == doctest::Approx(0));
  for (const double v : {1e-3, 0.02, 0.5}) {
    const double t = normalised(v, -2, 2, Norm::log, 1e-4);
    CHECK(t > 0.5 + v / 4);  // above where a linear scale would put it
    CHECK(normalised(-v, -2, 2, Norm::log, 1e-4) == doctest::Approx(1 - t));
  }
  CHECK(normalised(-std::numeric_limits<double>::infinity(), 0, 1, Norm::log, 1e-4) < 0);
}

TEST_CASE("law: signed logarithms are as dark at a decade above the floor as log 2 says") {
  for (const double floor : {1e-4, 1e-2})
    for (const double high : {0.5, 2.0})
      for (const double sign : {-1.0, 1.0}) {
        CAPTURE(floor);
        const double t = normalised(sign * 10 * floor * high, -high, high, Norm::log, floor);
        CHECK(t == doctest::Approx(0.5 + sign / 2 * std::log(2) / std::log1p(0.1 / floor)));
      }
}

TEST_CASE("normalised: a range of one value holds that value") {
  for (const Norm norm : {Norm::linear, Norm::log}) {
    CHECK(normalised(0.25, 0.25, 0.25, norm, 1) == 0);
    CHECK(normalised(0.2, 0.25, 0.25, norm, 1) < 0);
    CHECK(normalised(0.3, 0.25, 0.25, norm, 1) > 1);
  }
  CHECK(normalised(0, 0, 0, Norm::linear, 1e-4) == 0);
}

TEST_CASE("published maps begin and end as published") {
  CHECK(colormap("viridis").steps[0] == Rgb{68, 1, 84});
  CHECK(colormap("viridis").steps[255] == Rgb{253, 231, 37});
  CHECK(colormap("magma").steps[0] == Rgb{0, 0, 4});
  CHECK(colormap("magma").steps[255] == Rgb{252, 253, 191});
  CHECK(colormap("cividis").steps[0] == Rgb{0, 34, 78});
  CHECK(colormap("cividis").steps[255] == Rgb{254, 232, 56});
}

TEST_CASE("sequential maps grow lighter from end to end") {
  for (const char* id : {"viridis", "magma", "cividis", "grey"}) {
    const Colormap& map = colormap(id);
    CAPTURE(id);
    // 8-bit rounding moves L* by up to 0.4; a map must not fall back by more.
    for (std::size_t s = 1; s < 256; ++s)
      CHECK(lightness(map.steps[s]) > lightness(map.steps[s - 1]) - 0.4);
    CHECK(lightness(map.steps[255]) - lightness(map.steps[0]) > 60);
  }
}

TEST_CASE("ranks grow darker, and the diverging map is lightest and colourless at its centre") {
  const Colormap& ranks = colormap("ranks");
  for (std::size_t s = 1; s < 256; ++s)
    CHECK(lightness(ranks.steps[s]) < lightness(ranks.steps[s - 1]) + 0.4);
  const Colormap& both = colormap_for(Palette::diverging, "viridis");
  for (std::size_t s = 1; s < 128; ++s) {
    CHECK(lightness(both.steps[s]) > lightness(both.steps[s - 1]) - 0.4);
    CHECK(lightness(both.steps[255 - s]) > lightness(both.steps[256 - s]) - 0.4);
    // Equal errors of either sign weigh the same to the eye: within a tenth of the scale.
    CHECK(std::abs(lightness(both.steps[s]) - lightness(both.steps[255 - s])) < 10);
  }
  for (const std::size_t centre : {127u, 128u})
    CHECK(distance(both.steps[centre], Rgb{250, 250, 250}) < 4);
}

TEST_CASE("masked, NaN, under and over have colours of their own") {
  for (const std::string& id : colormap_ids()) {
    const Colormap& map = colormap(id);
    CAPTURE(id);
    const Rgb special[] = {map.under, map.over, map.masked, map.not_a_number};
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) CHECK(distance(special[a], special[b]) > 40);
    // A grey map must pass by the masked grey.
    for (const Rgb& step : map.steps) {
      CHECK(distance(step, map.not_a_number) > 60);
      if (id != "grey") CHECK(distance(step, map.masked) > 15);
    }
  }
}

TEST_CASE("categories differ from each other, and nothing is the palest") {
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < a; ++b) CHECK(distance(category_colour(a), category_colour(b)) > 40);
  for (int c = 1; c < 10; ++c)
    CHECK(lightness(category_colour(0)) > lightness(category_colour(c)) + 10);
  CHECK(category_colour(10) == category_colour(1));
}

TEST_CASE("an unknown map is refused by name") {
  CHECK_THROWS_WITH_AS(colormap("jet"), doctest::Contains("\"jet\""), UsageError);
}
