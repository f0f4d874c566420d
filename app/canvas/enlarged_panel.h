// An enlarged panel has the canvas to itself.
#pragma once

#include <memory>
#include <vector>

#include "canvas/canvas.h"

namespace fovea::canvas {

/// The enlarged column; beside an output picture also the exact one, to compare with.
std::vector<int> columns_enlarged(const CanvasModel& model, int view, int column);

/// The model of one row and a few columns.
std::shared_ptr<const CanvasModel> only(const CanvasModel& model, std::size_t row,
                                        const std::vector<int>& columns);

}  // namespace fovea::canvas
