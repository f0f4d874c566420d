// Colour bars at the side of rows and small ones, or swatches, below panels.
#include <algorithm>
#include <cmath>

#include "canvas/bodies.h"
#include "figure/ticks.h"

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

constexpr float swatch = 9, apart = 8;

/// With its ends' numbers beside it.
void draw_own_gradient(const Ink& ink, const Rect& where, const ColourRange& range) {
  const std::string low = number(range.bottom(), 2);
  const std::string high = number(range.high, 2) + (range.norm == Norm::log ? " log" : "");
  const float left = ink.width(Face::small, low) + 5, right = ink.width(Face::small, high) + 5;
  ink.write(Face::small, {where.x, where.y}, ink.theme.muted, low);
  const Rect bar{where.x + left, where.y + 3, where.width - left - right, 8};
  fill_gradient(ink, bar, *range.map, false);
  ink.frame(bar, ink.theme.border);
  ink.write_right(Face::small, {where.right(), where.y}, ink.theme.muted, high);
}

void draw_swatch(const Ink& ink, Point at, const Swatch& one) {
  const Rect box{at.x, at.y + 2, swatch, swatch};
  ink.fill(box, colour_of(one.colour));
  ink.frame(box, ink.theme.border);
  ink.write(Face::small, {box.right() + 4, at.y}, ink.theme.muted, one.name);
}

/// Of all panels of a row.
SpecialColours special_colours_in(const Scene& scene, int row) {
  SpecialColours all;
  const RowScale& scale = scene.scales[static_cast<std::size_t>(row)];
  for (int c = 0; c < scene.grid.columns(); ++c) {
    const CanvasCell* cell = scene.cell(row, c);
    const auto* raster = cell && cell->panel ? std::get_if<Raster>(&cell->panel->body) : nullptr;
    if (raster)
      all.add(special_colours_of(scene.contents(cell->panel),
                                 range_in(scale, *raster, scene.model.settings)));
  }
  return all;
}

}  // namespace

float swatch_width(const Fonts& fonts, const Swatch& one) {
  return swatch + 4 + fonts.width(Face::small, one.name);
}

std::vector<std::vector<Swatch>> legend_lines(const Raster& raster, const RasterContents& contents,
                                              const ViewSettings& settings, const Fonts& fonts,
                                              float room) {
  const ColourRange range = range_of(raster, settings);
  std::vector<Swatch> all;
  if (range.palette == Palette::categories) all = swatches_of(raster.categories);
  for (Swatch& one : swatches_of(special_colours_of(contents, range), *range.map))
    all.push_back(std::move(one));
  std::vector<std::vector<Swatch>> lines;
  float x = 0;
  for (Swatch& one : all) {
    const float wide = swatch_width(fonts, one);
    if (lines.empty() || x + wide > room) {
      lines.emplace_back();
      x = 0;
    }
    x += wide + apart;
    lines.back().push_back(std::move(one));
  }
  return lines;
}

/// The names stand below the bar, first beside the panel's caption; what has no room there makes
/// the bar shorter.
void draw_scale(const Ink& ink, const Scene& scene, int row) {
  const RowScale& scale = scene.scales[static_cast<std::size_t>(row)];
  if (!scale.range || scale.own) return;
  const bool categories = scale.range->palette == Palette::categories;
  std::vector<Swatch> names;
  if (categories) names = swatches_of(scale.categories);
  for (Swatch& one : swatches_of(special_colours_in(scene, row), *scale.range->map))
    names.push_back(std::move(one));
  Rect where = scene.grid.side_bar(row);
  float y = where.y;
  if (!categories) {
    const float below = scene.grid.caption(row, 0).bottom() - where.bottom();
    const float wished = Grid::legend_height * static_cast<float>(names.size()) + 3;
    if (!names.empty()) where.height -= std::max(0.0f, wished - below);
    draw_side_gradient(ink, where, scale);
    y = where.bottom() + 3;
  }
  for (const Swatch& one : names) {
    draw_swatch(ink, {where.x, y}, one);
    y += Grid::legend_height;
  }
}

void draw_legend(const Ink& ink, const Scene& scene, int row, int column, const Panel& panel) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  Rect where = scene.grid.legend(row, column);
  const CanvasCell* cell = scene.cell(row, column);
  if (!raster || where.empty()) return;
  const ColourRange range = range_of(*raster, scene.model.settings);
  if (range.palette != Palette::categories) {
    draw_own_gradient(ink, where, range);
    where.y += Grid::legend_height;
  }
  for (const auto& line : legend_lines(*raster, scene.contents(cell->panel), scene.model.settings,
                                       ink.fonts, where.width)) {
    float x = where.x;
    for (const Swatch& one : line) {
      draw_swatch(ink, {x, where.y}, one);
      x += swatch_width(ink.fonts, one) + apart;
    }
    where.y += Grid::legend_height;
  }
}

}  // namespace fovea::canvas
