// A RowScale is what the panels of one row share: a colour bar, or a list of categories.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "canvas/canvas.h"
#include "figure/special_colours.h"

namespace fovea::canvas {

using ColourRange = ValueColours;

struct RowScale {
  std::optional<ColourRange> range;  // none: no colours in this row
  std::vector<std::string> categories;
  std::string quantity;
  bool own = false;  // every panel has a range of its own
};

std::vector<RowScale> scales_of(const CanvasModel& model);
ColourRange range_of(const Raster& raster, const ViewSettings& settings);
/// The range a cell of the row is drawn with.
ColourRange range_in(const RowScale& scale, const Raster& raster, const ViewSettings& settings);
/// Lowest and highest of the row's range; nothing where every panel has its own.
std::optional<std::pair<double, double>> shared_range(const CanvasModel& model, std::size_t row);

/// A colour with a name, beside a bar or in place of one.
struct Swatch {
  std::string name;
  Rgb colour;
};
/// Of what has no place on the bar.
std::vector<Swatch> swatches_of(const SpecialColours& special, const Colormap& map);
std::vector<Swatch> swatches_of(const std::vector<std::string>& categories);

}  // namespace fovea::canvas
