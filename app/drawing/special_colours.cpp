#include "drawing/special_colours.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace fovea {

// Column by column, without a branch: a window does this between two frames.
RasterContents contents_of(const Raster& raster) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto cols = static_cast<std::size_t>(raster.values.cols());
  std::vector<float> low(cols, infinity), high(cols, -infinity);
  std::vector<std::int32_t> masked(cols), not_a_number(cols);
  for (Index r = 0; r < raster.values.rows(); ++r) {
    const float* row = raster.values.row(r);
    for (std::size_t c = 0; c < cols; ++c) {
      const float value = row[c];
      masked[c] |= value == -infinity;
      not_a_number[c] |= value != value;
      const float above = value == -infinity ? infinity : value;
      low[c] = above < low[c] ? above : low[c];
      high[c] = value > high[c] ? value : high[c];
    }
  }
  RasterContents out;
  const auto any = [](const auto& flags) {
    return std::ranges::count(flags, 0) < std::ssize(flags);
  };
  out.masked = any(masked);
  out.not_a_number = any(not_a_number);
  for (std::size_t c = 0; c < cols; ++c) {
    out.low = std::min(out.low, static_cast<double>(low[c]));
    out.high = std::max(out.high, static_cast<double>(high[c]));
  }
  return out;
}

void SpecialColours::add(const SpecialColours& other) {
  under |= other.under;
  over |= other.over;
  masked |= other.masked;
  not_a_number |= other.not_a_number;
}

SpecialColours special_colours_of(const RasterContents& contents, const ValueColours& colours) {
  SpecialColours out{.masked = contents.masked, .not_a_number = contents.not_a_number};
  if (colours.palette == Palette::categories || contents.low > contents.high) return out;
  const auto place = [&](double value) {
    return normalised(value, colours.low, colours.high, colours.norm, colours.log_floor);
  };
  out.under = place(contents.low) < -1e-4;  // as ValueColours::colour has it
  out.over = place(contents.high) > 1 + 1e-4;
  return out;
}

}  // namespace fovea
