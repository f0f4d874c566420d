// A RowScale is what the panels of a row are coloured by: one scale for all of them, or each its
// own.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "drawing/colour_scale.h"
#include "study/canvas_model.h"

namespace fovea::canvas {

struct RowScale {
  std::optional<drawing::ColourScale> shared;
  bool own = false;  // every panel has a bar of its own
};

std::vector<RowScale> scales_of(const CanvasModel& model);
/// What a panel of the row is coloured by; nothing for panels without colours.
std::optional<drawing::ColourScale> scale_in(const RowScale& row, const Panel& panel,
                                             const ViewSettings& settings);
/// Lowest and highest of the row's range; nothing where every panel has its own.
std::optional<std::pair<double, double>> shared_range(const CanvasModel& model, std::size_t row);

}  // namespace fovea::canvas
