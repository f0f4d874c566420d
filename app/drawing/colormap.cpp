#include "drawing/colormap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "data/error.h"
#include "data/text.h"
#include "drawing/colormap_tables.h"

namespace fovea {
namespace {

using Steps = std::array<Rgb, 256>;

constexpr Rgb kMasked = {176, 180, 184};
constexpr Rgb kNotANumber = {255, 0, 144};

std::uint8_t from_hex(std::string_view two) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  return digit(two[0]) * 16 + digit(two[1]);
}

Steps parse(std::string_view table) {
  Steps steps;
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (std::size_t c = 0; c < 3; ++c) steps[s][c] = from_hex(table.substr(6 * s + 2 * c, 2));
  return steps;
}

/// Evenly spaced anchors, straight lines between them.
Steps interpolate(std::span<const Rgb> anchors) {
  Steps steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const double at = s / 255.0 * (anchors.size() - 1);
    const std::size_t a = std::min<std::size_t>(at, anchors.size() - 2);
    const double t = at - a;
    for (std::size_t c = 0; c < 3; ++c)
      steps[s][c] = std::lround((1 - t) * anchors[a][c] + t * anchors[a + 1][c]);
  }
  return steps;
}

// Blue and red of equal lightness at equal distance from white: distinguishable by every kind of
// sight.
constexpr Rgb kDiverging[] = {{11, 47, 108},   {33, 102, 172},  {94, 156, 206},
                              {166, 205, 230}, {250, 250, 250}, {247, 186, 160},
                              {225, 124, 96},  {184, 50, 55},   {112, 12, 33}};
constexpr Rgb kRanks[] = {{255, 245, 230}, {254, 222, 178}, {253, 190, 124},
                          {246, 146, 82},  {220, 98, 56},   {168, 54, 34}};
// Pale for a share of nothing, which stands apart from the least share. All differ from the grey of
// what is masked, for the colour blind too.
constexpr Rgb kNoShare = {255, 240, 190};
constexpr Rgb kShares[] = {
    {253, 204, 116}, {240, 146, 66}, {196, 88, 44}, {142, 50, 42}, {92, 18, 66}};
constexpr Rgb kGrey[] = {{24, 24, 24}, {245, 245, 245}};

// Pale for nothing, two blues for partial and full; then hues after Okabe and Ito (2008), moved
// apart until the colour blind distinguish all of them.
constexpr Rgb kCategories[] = {{236, 239, 242}, {158, 202, 240}, {38, 116, 190},  {240, 178, 42},
                               {27, 149, 95},   {207, 93, 49},   {182, 132, 205}, {60, 196, 188},
                               {184, 79, 126},  {97, 98, 57}};

Steps category_steps() {
  Steps steps;
  for (std::size_t s = 0; s < steps.size(); ++s) steps[s] = category_colour(s);
  return steps;
}

// The first is the default.
const std::array<Colormap, 8>& all_maps() {
  static const std::array<Colormap, 8> maps = {{
      {"viridis", parse(tables::viridis), {34, 0, 46}, {255, 252, 190}, kMasked, kNotANumber},
      {"magma", parse(tables::magma), {40, 60, 70}, {255, 255, 255}, kMasked, kNotANumber},
      {"cividis", parse(tables::cividis), {0, 12, 36}, {255, 255, 178}, kMasked, kNotANumber},
      {"grey", interpolate(kGrey), {0, 0, 70}, {255, 244, 170}, kMasked, kNotANumber},
      {"blue-red", interpolate(kDiverging), {4, 14, 48}, {48, 2, 12}, kMasked, kNotANumber},
      {"ranks", interpolate(kRanks), {255, 255, 255}, {84, 20, 14}, kMasked, kNotANumber},
      by_root({"shares", interpolate(kShares), kNoShare, {0, 0, 0}, kMasked, kNotANumber}),
      {"categories", category_steps(), {255, 255, 255}, {0, 0, 0}, kMasked, kNotANumber},
  }};
  return maps;
}

}  // namespace

std::vector<std::string> colormap_ids() {
  std::vector<std::string> ids;
  for (const Colormap& map : all_maps()) ids.push_back(map.id);
  return ids;
}

Colormap by_root(Colormap map) {
  const Steps steps = map.steps;
  for (std::size_t s = 0; s < steps.size(); ++s)
    map.steps[s] = steps[std::size_t(255 * std::sqrt(double(s) / 255))];
  return map;
}

const Colormap& colormap(const std::string& id) {
  for (const Colormap& map : all_maps())
    if (map.id == id) return map;
  throw UsageError("no colour map \"" + id + "\"; known are " + join(all_maps(), &Colormap::id));
}

const Colormap& colormap_for(Palette palette, const std::string& sequential) {
  switch (palette) {
    case Palette::diverging:
      return colormap("blue-red");
    case Palette::categories:
      return colormap("categories");
    case Palette::ranks:
      return colormap("ranks");
    case Palette::shares:
      return colormap("shares");
    case Palette::sequential:
      break;
  }
  return colormap(sequential);
}

Rgb category_colour(int category) {
  const int count = std::size(kCategories);
  if (category < 0) return kMasked;
  // After the last hue the hues repeat, but not the pale one of "nothing".
  return kCategories[category < count ? category : 1 + (category - 1) % (count - 1)];
}

double signed_log_unit(double high, double log_floor) {
  return 10 * log_floor * high;
}

double normalised(double value, double low, double high, Norm norm, double log_floor) {
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  if (norm == Norm::log && high > 0 && low == -high) {
    const double unit = signed_log_unit(high, log_floor);
    const double out = std::log1p(std::abs(value) / unit) / std::log1p(high / unit);
    return 0.5 + std::copysign(out, value) / 2;
  }
  double bottom = low;
  if (norm == Norm::log && high > 0) {
    bottom = std::max(low, log_floor * high);
    if (value <= 0) return -1;
    if (bottom > 0 && bottom < high) return std::log(value / bottom) / std::log(high / bottom);
  }
  if (high > bottom) return (value - bottom) / (high - bottom);
  return value < high ? -1 : value > high ? 2 : 0;  // an empty range holds one value
}

double ValueColours::share_of(double value) const {
  if (is_all_zero() && value == 0) return 0.5;
  return normalised(value, low, high, norm, log_floor);
}

Rgb ValueColours::colour(double value) const {
  if (std::isnan(value)) return map->not_a_number;
  if (std::isinf(value) && value < 0) return map->masked;
  if (palette == Palette::categories)
    return hides(std::size_t(std::max(value, 0.0))) ? map->under : category_colour(int(value));
  const double t = share_of(value);
  // A value within a ten-thousandth of the range beyond its end is rounding, not an outlier.
  if (t < -1e-4) return map->under;
  if (t > 1 + 1e-4) return map->over;
  return map->steps[std::clamp<int>(t * 256, 0, 255)];
}

std::vector<drawing::Rgba> pixels_of(const Matrix& values, const ValueColours& colours) {
  std::vector<drawing::Rgba> pixels;
  for (Index r = 0; r < values.rows(); ++r)
    for (Index c = 0; c < values.cols(); ++c)
      pixels.push_back(drawing::opaque(colours.colour(values(r, c))));
  return pixels;
}

std::vector<drawing::Rgba> pixels_of(const OutputPicture& picture) {
  const auto byte = [](float value) {
    return std::uint8_t(std::isfinite(value) ? std::lround(255 * std::clamp(value, 0.f, 1.f)) : 0);
  };
  std::vector<drawing::Rgba> pixels;
  for (std::size_t at = 0; at + 2 < picture.rgb.size(); at += 3)
    pixels.push_back({byte(picture.rgb[at]), byte(picture.rgb[at + 1]), byte(picture.rgb[at + 2])});
  return pixels;
}

double ValueColours::value_at(double share) const {
  const double from = bottom();
  if (signed_log()) {
    const double unit = signed_log_unit(high, log_floor), out = 2 * std::abs(share - 0.5);
    return std::copysign(unit * std::expm1(out * std::log1p(high / unit)), share - 0.5);
  }
  if (norm == Norm::log && from > 0 && from < high) return from * std::pow(high / from, share);
  return from + share * (high - from);
}

double ValueColours::bottom() const {
  return norm == Norm::log && high > 0 && !signed_log() ? std::max(low, log_floor * high) : low;
}

}  // namespace fovea
