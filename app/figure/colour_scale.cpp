#include "figure/colour_scale.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

QString raster_label(const Raster& raster) {
  QString label = QString::fromStdString(raster.quantity);
  if (raster.palette == Palette::sequential && raster.norm == Norm::log)
    label += QStringLiteral(", log");
  if (raster.palette == Palette::diverging && raster.norm == Norm::log)
    label += QStringLiteral(", signed log");
  if (raster.palette == Palette::sequential && raster.norm == Norm::row_max)
    label += QStringLiteral(", share of row maximum");
  return label;
}

ColourScale raster_scale(const Raster& raster, const FigureStyle& style) {
  ColourScale scale;
  scale.palette = raster.palette;
  scale.map = &colormap_for(raster.palette, style.colormap);
  const bool amounts =
      raster.palette == Palette::sequential || raster.palette == Palette::diverging;
  scale.norm = amounts ? raster.norm : Norm::linear;
  scale.low = raster.low;
  scale.high = raster.high;
  scale.log_floor = style.log_floor;
  scale.categories = raster.categories;
  scale.whole_numbers = raster.palette == Palette::ranks && std::rint(raster.low) == raster.low &&
                        std::rint(raster.high) == raster.high;
  scale.label = raster_label(raster);
  return scale;
}

void centre(ColourScale& scale) {
  if (scale.palette != Palette::diverging) return;
  scale.high = std::max(std::abs(scale.low), std::abs(scale.high));
  scale.low = -scale.high;
}

}  // namespace

int ColourScale::steps() const {
  const double span = high - low;
  const bool whole = palette == Palette::ranks && whole_numbers && span >= 1 && span <= 15;
  return whole ? static_cast<int>(std::lround(span)) + 1 : 0;
}

std::optional<ColourScale> colour_scale_of(const Panel& panel, const FigureStyle& style) {
  if (const auto* raster = std::get_if<Raster>(&panel.body)) {
    ColourScale scale = raster_scale(*raster, style);
    centre(scale);
    return scale;
  }
  if (const auto* blocks = std::get_if<BlockMap>(&panel.body)) {
    ColourScale scale;
    scale.palette = Palette::ranks;
    scale.map = &colormap_for(Palette::ranks, style.colormap);
    scale.label = QString::fromStdString(blocks->quantity);
    scale.label += "; colour: " + QString::fromStdString(name_of_share(style.rank_colour));
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

void mark_outliers(ColourScale& scale, const Panel& panel) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (raster) scale.add(special_colours_of(contents_of(*raster), scale));
}

}  // namespace fovea
