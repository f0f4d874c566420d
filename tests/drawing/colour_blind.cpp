// Colours as the colour blind see them: no two that must be told apart look alike.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "drawing/colormap.h"

namespace fovea::test {
namespace {

using Triple = std::array<double, 3>;
using Transform = std::array<Triple, 3>;

/// How linear red, green and blue are seen without one kind of cone: Machado, Oliveira and
/// Fernandes 2009, table 1, severity 1.
struct Sight {
  const char* name;
  Transform transform;
};
constexpr std::array<Sight, 4> sights{{{"all cones", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                                       {"protanopia",
                                        {{{0.152286, 1.052583, -0.204868},
                                          {0.114503, 0.786281, 0.099216},
                                          {-0.003882, -0.048116, 1.051998}}}},
                                       {"deuteranopia",
                                        {{{0.367322, 0.860646, -0.227968},
                                          {0.280085, 0.672501, 0.047413},
                                          {-0.011820, 0.042940, 0.968881}}}},
                                       {"tritanopia",
                                        {{{1.255528, -0.076749, -0.178779},
                                          {-0.078411, 0.930809, 0.147602},
                                          {0.004733, 0.691367, 0.303900}}}}}};

double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Triple applied(const Transform& transform, const Triple& colour) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) out[i] += transform[i][j] * colour[j];
  return out;
}

/// CIELAB (D65) of a colour as it is seen.
Triple seen(const Rgb& colour, const Sight& sight) {
  Triple rgb = applied(sight.transform, {linear(colour[0]), linear(colour[1]), linear(colour[2])});
  for (double& channel : rgb) channel = std::clamp(channel, 0.0, 1.0);
  constexpr Transform to_xyz{
      {{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
  const Triple xyz = applied(to_xyz, rgb);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

double luminance(const Rgb& c) {
  return 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
}

Rgb rgb(drawing::Rgba c) {
  return {c.r, c.g, c.b};
}

// A difference of 2.3 is just noticed between large areas side by side; marks are small and apart.
constexpr double told_apart = 10;

void check_distinct(const std::vector<Rgb>& colours) {
  for (const Sight& sight : sights)
    for (std::size_t a = 0; a < colours.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        CAPTURE(std::string(sight.name));
        CAPTURE(a);
        CAPTURE(b);
        CHECK(distance(seen(colours[a], sight), seen(colours[b], sight)) > told_apart);
      }
}

}  // namespace

TEST_CASE("the colour blind tell all curves apart, which stand out from their ground") {
  for (const bool dark : {false, true}) {
    CAPTURE(dark);
    const drawing::Style& style = drawing::screen_style(dark);
    std::vector<Rgb> series;
    for (const drawing::Rgba colour : style.series) series.push_back(rgb(colour));
    check_distinct(series);
    for (const Rgb& colour : series) {
      const double a = luminance(colour), b = luminance(rgb(style.paper));
      CHECK((std::max(a, b) + 0.05) / (std::min(a, b) + 0.05) >= 3);  // WCAG 2.1, 1.4.11
    }
    check_distinct({rgb(style.query), rgb(style.key)});
    check_distinct({rgb(style.exact), rgb(style.approximate)});
    check_distinct({rgb(style.accent), rgb(style.warning), rgb(style.text)});
    check_distinct({rgb(style.pinned), rgb(style.marked)});
  }
}

TEST_CASE("the colour blind tell all categories apart") {
  std::vector<Rgb> categories;
  for (int category = 0; category < 10; ++category) categories.push_back(category_colour(category));
  check_distinct(categories);
}

TEST_CASE(
    "the colour blind tell picked, available and masked pairs apart, and all shares from masked") {
  const Colormap& shares = colormap_for(Palette::shares, "");
  check_distinct({shares.under, shares.steps.front(), shares.steps.back(), shares.masked});
  for (const Sight& sight : sights) {
    CAPTURE(std::string(sight.name));
    for (const Rgb& step : shares.steps)
      CHECK(distance(seen(step, sight), seen(shares.masked, sight)) > 2 * told_apart);
  }
}

TEST_CASE("the colour blind see sequential maps and ranks grow, and both signs of a difference") {
  for (const Sight& sight : sights) {
    CAPTURE(std::string(sight.name));
    for (const std::string& id : colormap_ids()) {
      const auto& steps = colormap(id).steps;
      if (id == "categories") continue;
      CAPTURE(id);
      if (id == "blue-red") {
        // From a quarter of the way on, where neither side is nearly white.
        for (std::size_t s = 0; s < 96; ++s)
          CHECK(distance(seen(steps[s], sight), seen(steps[255 - s], sight)) > told_apart);
        continue;
      }
      const double sign = id == "ranks" || id == "shares" ? -1 : 1;
      for (std::size_t s = 8; s < steps.size(); ++s)
        CHECK(sign * (seen(steps[s], sight)[0] - seen(steps[s - 8], sight)[0]) > 0);
    }
  }
}

}  // namespace fovea::test
