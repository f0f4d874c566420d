#include "drawing/legend.h"

namespace fovea::drawing {
namespace {

// In letters.
constexpr double kBox = 0.75;   // side of a swatch
constexpr double kGap = 0.36;   // between swatch and name
constexpr double kApart = 0.9;  // between items
constexpr double kSample = 2;   // of a series

double indent_of(const LegendItem& item, double size) {
  return item.series ? (kSample + kGap) * size : item.swatch ? (kBox + kGap) * size : 0;
}

}  // namespace

Legend::Legend(std::vector<LegendItem> items, const Lettering& letters, double width) {
  const double line = letters.line(), size = letters.size();
  double x = 0, y = 0;
  for (LegendItem& item : items) {
    const double indent = indent_of(item, size);
    item.text = letters.elided(item.text, width - indent);
    const double taken = indent + letters.width(item.text);
    if (x > 0 && x + taken > width + 0.01) {
      x = 0;
      y += line;
    }
    placed_.push_back({std::move(item), {x, y + line / 2}, taken});
    last_width_ = x + taken;
    x += taken + kApart * size;
  }
  if (!placed_.empty()) height_ = y + line;
}

void Legend::draw(Ink& ink, Point top_left) const {
  const double size = ink.letters.size(), box = kBox * size;
  for (const auto& [item, at, width] : placed_) {
    const Point here{top_left.x + at.x, top_left.y + at.y};
    const Rect swatch{here.x, here.y - box / 2, box, box};
    if (item.series) {
      draw_series_sample(ink, {here.x, here.y, kSample * size, 0}, *item.series);
    } else if (item.swatch && item.dot) {
      ink.dot(swatch.centre(), 0.23 * box, *item.swatch);
    } else if (item.swatch) {
      ink.fill(swatch, *item.swatch);
      ink.outline(swatch, {ink.style.frame});
    }
    ink.text({here.x + indent_of(item, size), here.y}, item.text, ink.style.label);
  }
}

}  // namespace fovea::drawing
