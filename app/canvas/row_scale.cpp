#include "canvas/row_scale.h"

#include <algorithm>
#include <cmath>

namespace fovea::canvas {
namespace {

RowScale scale_of(const std::vector<CanvasCell>& cells, const ViewSettings& settings) {
  RowScale scale;
  for (const CanvasCell& cell : cells) {
    if (cell.panel && std::holds_alternative<BlockMap>(cell.panel->body) && !scale.range) {
      scale.range = ColourRange{.palette = Palette::ranks,
                                .map = &colormap_for(Palette::ranks, settings.colormap)};
      scale.quantity = name_of_share(settings.rank_colour);
    }
    const Raster* raster = cell.panel ? std::get_if<Raster>(&cell.panel->body) : nullptr;
    if (!raster) continue;
    const ColourRange range = range_of(*raster, settings);
    if (!scale.range) {
      scale.range = range;
      scale.categories = raster->categories;
      scale.quantity = raster->quantity;
      continue;
    }
    if (scale.range->palette != range.palette || scale.categories != raster->categories) {
      scale.own = true;
      continue;
    }
    scale.range->low = std::min(scale.range->low, range.low);
    scale.range->high = std::max(scale.range->high, range.high);
  }
  const bool varies = scale.range && scale.range->palette != Palette::categories &&
                      scale.range->palette != Palette::ranks;
  if (varies && !settings.shared_range) scale.own = true;
  return scale;
}

}  // namespace

ColourRange range_of(const Raster& raster, const ViewSettings& settings) {
  const bool amounts =
      raster.palette == Palette::sequential || raster.palette == Palette::diverging;
  ColourRange range{.palette = raster.palette,
                    .map = &colormap_for(raster.palette, settings.colormap),
                    .norm = amounts ? raster.norm : Norm::linear,
                    .low = raster.low,
                    .high = raster.high,
                    .log_floor = settings.log_floor};
  if (raster.palette == Palette::diverging) {
    range.high = std::max(std::abs(raster.low), std::abs(raster.high));
    range.low = -range.high;
  }
  return range;
}

ColourRange range_in(const RowScale& scale, const Raster& raster, const ViewSettings& settings) {
  if (scale.own || !scale.range) return range_of(raster, settings);
  return *scale.range;
}

std::vector<RowScale> scales_of(const CanvasModel& model) {
  std::vector<RowScale> scales;
  for (const auto& cells : model.cells) scales.push_back(scale_of(cells, model.settings));
  return scales;
}

std::optional<std::pair<double, double>> shared_range(const CanvasModel& model, std::size_t row) {
  const RowScale scale = scale_of(model.cells[row], model.settings);
  if (!scale.range || scale.own) return {};
  return std::pair{scale.range->low, scale.range->high};
}

std::vector<Swatch> swatches_of(const SpecialColours& special, const Colormap& map) {
  std::vector<Swatch> out;
  if (special.over) out.push_back({"over", map.over});
  if (special.under) out.push_back({"under", map.under});
  if (special.masked) out.push_back({"masked", map.masked});
  if (special.not_a_number) out.push_back({"NaN", map.not_a_number});
  return out;
}

std::vector<Swatch> swatches_of(const std::vector<std::string>& categories) {
  std::vector<Swatch> out;
  for (std::size_t c = 0; c < categories.size(); ++c)
    out.push_back({categories[c], category_colour(static_cast<int>(c))});
  return out;
}

}  // namespace fovea::canvas
