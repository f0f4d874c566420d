// Colour bars at the side of rows and small ones, or swatches, below panels.
#include <algorithm>
#include <cmath>

#include "figure/ticks.h"
#include "gui/canvas/bodies.h"

namespace fovea::canvas {
namespace {

struct BarTick {
  double at;  // 0..1 of the bar
  std::string label;
};

std::vector<BarTick> bar_ticks(const ColourRange& range, float length) {
  const double low = range.bottom(), high = range.high;
  std::vector<BarTick> out;
  if (!(high > low)) return {{0.5, number(high)}};
  if (range.signed_log()) {
    const int most = std::max(1, static_cast<int>(length / 18));
    for (const Tick& tick :
         signed_log_ticks(high, 3 * signed_log_unit(high, range.log_floor), most))
      out.push_back({normalised(tick.at, low, high, range.norm, range.log_floor), number(tick.at)});
    return out;
  }
  if (range.norm == Norm::log && low > 0) {
    const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
    const int most = std::max(1, static_cast<int>(length / 22));
    const int step = std::max(1, (last - first + most) / most);
    for (int e = first; e <= last; e += step) {
      const double value = std::pow(10.0, e);
      out.push_back({std::log(value / low) / std::log(high / low), number(value)});
    }
    return out;
  }
  for (const double value : round_numbers(low, high, std::max(2, static_cast<int>(length / 30))))
    out.push_back({(value - low) / (high - low), number(value)});
  return out;
}

/// The map from bottom to top, or left to right.
void fill_gradient(const Ink& ink, const Rect& bar, const Colormap& map, bool upright) {
  constexpr int pieces = 64;
  const auto step = [&](int i) {
    return map.steps[static_cast<std::size_t>(std::min(i * 256 / pieces, 255))];
  };
  for (int i = 0; i < pieces; ++i) {
    const ImU32 a = colour_of(step(i)), b = colour_of(step(i + 1));
    const float f = static_cast<float>(i) / pieces, g = static_cast<float>(i + 1) / pieces;
    if (upright)
      ink.list.AddRectFilledMultiColor({bar.x, bar.bottom() - g * bar.height},
                                       {bar.right(), bar.bottom() - f * bar.height}, b, b, a, a);
    else
      ink.list.AddRectFilledMultiColor({bar.x + f * bar.width, bar.y},
                                       {bar.x + g * bar.width, bar.bottom()}, a, b, b, a);
  }
}

void draw_side_gradient(const Ink& ink, const Rect& where, const RowScale& scale) {
  const Rect bar{where.x, where.y, 11, where.height};
  fill_gradient(ink, bar, *scale.range->map, true);
  ink.frame(bar, ink.theme.border);
  for (const BarTick& tick : bar_ticks(*scale.range, bar.height)) {
    const float y = std::round(bar.bottom() - static_cast<float>(tick.at) * bar.height);
    ink.line({bar.right(), y}, {bar.right() + 3, y}, ink.theme.muted);
    const float text = std::clamp(y - 7, bar.y - 3, bar.bottom() - 11);
    ink.write(Face::small, {bar.right() + 6, text}, ink.theme.muted, tick.label);
  }
  std::string label = scale.quantity;
  if (scale.range->norm == Norm::log) label += scale.range->signed_log() ? ", signed log" : ", log";
  if (scale.range->norm == Norm::row_max) label += " / row max";
  ink.write_upright(Face::small, {where.right() - 7, where.centre().y}, ink.theme.muted,
                    ink.elided(Face::small, label, where.height));
}

void draw_side_categories(const Ink& ink, const Rect& where, const RowScale& scale) {
  float y = where.y;
  for (std::size_t c = 0; c < scale.categories.size(); ++c, y += 18) {
    if (y + 12 > where.bottom()) return;
    const Rect swatch{where.x, y, 11, 11};
    ink.fill(swatch, colour_of(category_colour(static_cast<int>(c))));
    ink.frame(swatch, ink.theme.border);
    ink.write(Face::small, {where.x + 16, y - 1}, ink.theme.muted,
              ink.elided(Face::small, scale.categories[c], where.width));
  }
}

}  // namespace

void draw_scale(const Ink& ink, const Scene& scene, int row) {
  const RowScale& scale = scene.scales[static_cast<std::size_t>(row)];
  if (!scale.range || scale.own) return;
  const Rect where = scene.grid.side_bar(row);
  if (scale.range->palette == Palette::categories)
    draw_side_categories(ink, where, scale);
  else
    draw_side_gradient(ink, where, scale);
}

void draw_legend(const Ink& ink, const Scene& scene, int row, int column, const Panel& panel) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  const Rect where = scene.grid.legend(row, column);
  if (!raster || where.empty()) return;
  const ColourRange range = range_of(*raster, scene.model.settings);
  if (range.palette == Palette::categories) {
    float x = where.x;
    for (std::size_t c = 0; c < raster->categories.size(); ++c) {
      const float wide = ink.width(Face::small, raster->categories[c]) + 14;
      if (x + wide > where.right()) return;
      const Rect swatch{x, where.y + 2, 9, 9};
      ink.fill(swatch, colour_of(category_colour(static_cast<int>(c))));
      ink.frame(swatch, ink.theme.border);
      ink.write(Face::small, {x + 13, where.y}, ink.theme.muted, raster->categories[c]);
      x += wide + 8;
    }
    return;
  }
  const std::string low = number(range.bottom(), 2);
  const std::string high = number(range.high, 2) + (range.norm == Norm::log ? " log" : "");
  const float left = ink.width(Face::small, low) + 5, right = ink.width(Face::small, high) + 5;
  ink.write(Face::small, {where.x, where.y}, ink.theme.muted, low);
  const Rect bar{where.x + left, where.y + 3, where.width - left - right, 8};
  fill_gradient(ink, bar, *range.map, false);
  ink.frame(bar, ink.theme.border);
  ink.write_right(Face::small, {where.right(), where.y}, ink.theme.muted, high);
}

}  // namespace fovea::canvas
