#include "canvas/row_scale.h"

namespace fovea::canvas {
namespace {

using drawing::ColourScale;

RowScale scale_of(const std::vector<CanvasCell>& cells, const ViewSettings& settings) {
  std::vector<std::optional<ColourScale>> own;
  for (const CanvasCell& cell : cells)
    own.push_back(cell.panel ? drawing::colour_scale_of(*cell.panel, settings) : std::nullopt);
  const drawing::RowScales row = drawing::share_scales(own, settings.shared_range);
  const bool any = std::ranges::any_of(own, [](const auto& one) { return one.has_value(); });
  return {row.shared, any && !row.shared};
}

}  // namespace

std::vector<RowScale> scales_of(const CanvasModel& model) {
  std::vector<RowScale> scales;
  for (const auto& cells : model.cells) scales.push_back(scale_of(cells, model.settings));
  return scales;
}

std::optional<ColourScale> scale_in(const RowScale& row, const Panel& panel,
                                    const ViewSettings& settings) {
  std::optional<ColourScale> own = drawing::colour_scale_of(panel, settings);
  return own && row.shared ? row.shared : own;
}

std::optional<std::pair<double, double>> shared_range(const CanvasModel& model, std::size_t row) {
  const RowScale scale = scale_of(model.cells[row], model.settings);
  if (!scale.shared) return {};
  return std::pair{scale.shared->low, scale.shared->high};
}

}  // namespace fovea::canvas
