#include "drawing/colour_scale.h"

#include <algorithm>
#include <cmath>

namespace fovea::drawing {
namespace {

std::string label_of(const Raster& raster) {
  std::string label = raster.quantity;
  if (raster.palette == Palette::sequential && raster.norm == Norm::log) label += ", log";
  if (raster.palette == Palette::diverging && raster.norm == Norm::log) label += ", signed log";
  if (raster.palette == Palette::sequential && raster.norm == Norm::row_max)
    label += ", share of row maximum";
  return label;
}

bool is_whole(double value) {
  return std::rint(value) == value;
}

ColourScale scale_of(const Raster& raster, const ColourChoice& choice) {
  ColourScale scale;
  scale.palette = raster.palette;
  scale.map = &colormap_for(raster.palette, choice.colormap);
  scale.norm = scale.is_amounts() ? raster.norm : Norm::linear;
  scale.low = raster.low;
  scale.high = raster.high;
  scale.log_floor = choice.log_floor;
  scale.categories = raster.categories;
  scale.whole_numbers =
      raster.palette == Palette::ranks && is_whole(raster.low) && is_whole(raster.high);
  scale.label = label_of(raster);
  if (scale.palette == Palette::diverging) {
    scale.high = std::max(std::abs(raster.low), std::abs(raster.high));
    scale.low = -scale.high;
  }
  return scale;
}

}  // namespace

int ColourScale::steps() const {
  const double span = high - low;
  const bool whole = palette == Palette::ranks && whole_numbers && span >= 1 && span <= 15;
  return whole ? static_cast<int>(std::lround(span)) + 1 : 0;
}

std::optional<ColourScale> colour_scale_of(const Panel& panel, const ColourChoice& choice) {
  if (const auto* raster = std::get_if<Raster>(&panel.body)) return scale_of(*raster, choice);
  if (const auto* blocks = std::get_if<BlockMap>(&panel.body)) {
    ColourScale scale;
    scale.palette = Palette::ranks;
    scale.map = &colormap_for(Palette::ranks, choice.colormap);
    scale.label = blocks->quantity;
    if (!scale.label.empty()) scale.label += "; colour: ";
    scale.label += name_of_share(choice.rank_colour);
    scale.rank_colour = choice.rank_colour;
    return scale;
  }
  return std::nullopt;
}

bool same_kind(const ColourScale& a, const ColourScale& b) {
  return a.palette == b.palette && a.norm == b.norm && a.categories == b.categories &&
         a.label == b.label;
}

void widen(ColourScale& scale, const ColourScale& other) {
  scale.low = std::min(scale.low, other.low);
  scale.high = std::max(scale.high, other.high);
  scale.add(other);
}

RowScales share_scales(const std::vector<std::optional<ColourScale>>& own, bool share_amounts) {
  RowScales row;
  bool alike = true;
  int count = 0;
  for (const auto& one : own) {
    if (!one) continue;
    ++count;
    if (!row.shared) {
      row.shared = one;
      continue;
    }
    alike = alike && same_kind(*row.shared, *one);
    widen(*row.shared, *one);
  }
  row.several = count > 1;
  if (!row.shared) return row;
  if (!alike || (row.shared->is_amounts() && !share_amounts)) row.shared.reset();
  return row;
}

}  // namespace fovea::drawing
