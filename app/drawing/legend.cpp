#include "drawing/legend.h"

#include <algorithm>

namespace fovea::drawing {
namespace {

// In letters.
constexpr double kBox = 0.75;   // side of a swatch
constexpr double kGap = 0.36;   // between swatch and name
constexpr double kApart = 0.9;  // between items
constexpr double kSample = 2;   // of a series

double indent_of(const LegendItem& item, double size) {
  return item.series   ? ((item.line ? kSample : kBox) + kGap) * size
         : item.swatch ? (kBox + kGap) * size
                       : 0;
}

}  // namespace

Legend::Legend(std::vector<LegendItem> items, const Lettering& letters, double width) {
  const double line = line_ = letters.line(), size = letters.size();
  double x = 0, y = 0;
  for (LegendItem& item : items) {
    const double indent = indent_of(item, size);
    constexpr int most_lines = 4;
    auto lines = letters.wrapped(item.text, width - indent, most_lines);
    double taken = indent;
    for (const std::string& text : lines) taken = std::max(taken, indent + letters.width(text));
    if (x > 0 && (x + taken > width + 0.01 || lines.size() > 1)) {
      x = 0;
      y += line;
    }
    const auto more = static_cast<double>(lines.size()) - 1;
    placed_.push_back({std::move(item), std::move(lines), {x, y + line / 2}, taken});
    y += more * line;
    last_width_ = x + taken;
    x = more > 0 ? width : x + taken + kApart * size;  // nothing follows several lines beside them
  }
  if (!placed_.empty()) height_ = y + line;
}

std::vector<Legend::Switch> Legend::switches() const {
  std::vector<Switch> all;
  for (const auto& [item, lines, at, width] : placed_)
    if (!item.name.empty())
      all.push_back({item.name,
                     item.hidden,
                     {at.x, at.y - line_ / 2, width, line_ * static_cast<double>(lines.size())}});
  return all;
}

void Legend::draw(Ink& ink, Point top_left) const {
  const double size = ink.letters.size(), box = kBox * size;
  for (const auto& [item, lines, at, width] : placed_) {
    const Point here{top_left.x + at.x, top_left.y + at.y};
    const Rect swatch{here.x, here.y - box / 2, box, box};
    if (item.series && !item.line) {
      draw_series_marker(ink, swatch.centre(), *item.series);
    } else if (item.series) {
      draw_series_sample(ink, {here.x, here.y, kSample * size, 0}, *item.series);
    } else if (item.swatch && item.dot && !item.hidden) {
      ink.dot(swatch.centre(), 0.23 * box, *item.swatch);
    } else if (item.swatch) {
      if (!item.hidden) ink.fill(swatch, *item.swatch);
      ink.outline(swatch, {ink.style.frame});
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
      ink.text({here.x + indent_of(item, size), here.y + static_cast<double>(i) * line_}, lines[i],
               item.hidden ? faded(ink.style.label, 0.5) : ink.style.label);
  }
}

}  // namespace fovea::drawing
