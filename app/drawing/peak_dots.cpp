// Dots at the largest entries of a matrix whose pixels are means, which hide them.
#include <algorithm>
#include <cmath>
#include <map>

#include "drawing/bodies.h"

namespace fovea::drawing {
namespace {

// In letters.
constexpr double kDotSpacing = 1.1, kDotRadius = 0.13;
constexpr double kMostAcross = 8;  // dots in a row: more would be a texture
// A dot differs from what lies below it by at least the first share of the colour bar, and stands
// for at least the second share of the largest entry.
constexpr double kHiddenBy = 0.25, kLeastShare = 0.1;
constexpr double kTie = 0.999;  // entries above this share of each other count as equal

/// How strongly a number is coloured: from 0 to 1 between the ends of the bar, or from its middle.
double strength(const ColourScale& scale, double value) {
  const double share = scale.share_of(value);
  return std::abs(scale.palette == Palette::diverging ? 2 * share - 1 : share);
}

/// The numbers of a raster that share a spot, the smallest one that can be seen.
struct Spot {
  Index down = 1, across = 1;

  Spot(const Raster& raster, const Rect& whole, double finest)
      : down(numbers(raster.values.rows(), whole.height, finest)),
        across(numbers(raster.values.cols(), whole.width, finest)) {}
  bool is_one() const { return down * across == 1; }
  double mean(const Matrix& values, const Peak& around) const {
    const Index top = around.row / down * down, left = around.col / across * across;
    double sum = 0;
    Index count = 0;
    for (Index r = top; r < std::min(top + down, values.rows()); ++r)
      for (Index c = left; c < std::min(left + across, values.cols()); ++c)
        if (const float v = values(r, c); std::isfinite(v)) sum += double(v), ++count;
    return count > 0 ? sum / double(count) : 0;
  }

 private:
  static Index numbers(Index all, double length, double finest) {
    return std::max<Index>(1, std::floor(double(all) * finest / std::max(length, finest) + 0.01));
  }
};

}  // namespace

void draw_peaks(const BodyDrawing& d, const Raster& raster, const Rect& whole) {
  const Spot spot(raster, whole, d.ink.style.finest);
  if (d.settings.pool != Pool::Kind::mean) return;
  if (raster.pooled == Pool::Kind::none && spot.is_one()) return;
  const Clip clip(d.ink, d.plot.where);
  const double radius = kDotRadius * d.ink.letters.size(),
               spacing = std::max(kDotSpacing * d.ink.letters.size(),
                                  std::max(d.plot.where.width, d.plot.where.height) / kMostAcross);
  struct Dot {
    const Peak* peak;
    Point at;
    bool alone = true;  // no other entry near it is as large
  };
  std::map<std::pair<int, int>, Dot> dots;  // by square
  for (const Peak& peak : d.prepared.peaks) {
    const Point at{
        whole.x + (double(peak.col) + 0.5) * whole.width / double(raster.values.cols()),
        whole.y + (double(peak.row) + 0.5) * whole.height / double(raster.values.rows())};
    if (!d.plot.where.contains(at)) continue;
    const double mean = spot.mean(raster.values, peak), own = double(peak.value);
    if (std::abs(own) < kLeastShare * std::abs(double(d.prepared.peaks.front().value))) break;
    if (strength(*d.scale, own) - strength(*d.scale, mean) < kHiddenBy) continue;
    const std::pair square(int((at.x - whole.x) / spacing), int((at.y - whole.y) / spacing));
    const auto [dot, is_first] = dots.try_emplace(square, Dot{&peak, at});
    if (!is_first && std::abs(own) > kTie * std::abs(double(dot->second.peak->value)))
      dot->second.alone = false;
  }
  for (const auto& [square, dot] : dots) {
    if (!dot.alone) continue;
    const double value = std::clamp(double(dot.peak->value), d.scale->low, d.scale->high);
    const Rgb colour = d.scale->colour(value);
    // The ground of a diverging scale is light, and so is the ring of each of its dots.
    const Rgba ring =
        d.scale->palette == Palette::diverging ? opaque({255, 255, 255}) : readable_on(colour);
    d.ink.dot(dot.at, radius + 0.75, faded(ring, 0.55));
    d.ink.dot(dot.at, radius, opaque(colour));
  }
}

}  // namespace fovea::drawing
