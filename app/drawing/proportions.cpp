#include <algorithm>

#include "drawing/bodies.h"

namespace fovea::drawing {

std::optional<double> shape_of(const Panel& panel) {
  double rows = 0, cols = 0;
  if (const auto* raster = std::get_if<Raster>(&panel.body)) {
    rows = static_cast<double>(raster->rows.size());
    cols = static_cast<double>(raster->cols.size());
  } else if (std::holds_alternative<BlockMap>(panel.body) ||
             std::holds_alternative<Strip>(panel.body)) {
    return 1.0;
  } else if (const auto* picture = std::get_if<OutputPicture>(&panel.body)) {
    rows = static_cast<double>(picture->rows);
    cols = static_cast<double>(picture->cols);
  }
  if (rows < 1 || cols < 1) return std::nullopt;
  return std::clamp(rows / cols, 0.2, 2.0);  // beyond, cells are stretched
}

double natural_height(const Panel& panel, double width, const Lettering& letters) {
  if (const auto shape = shape_of(panel)) return width * *shape;
  if (const auto* table = std::get_if<FigureTable>(&panel.body))
    return table_height(*table, width, letters);
  if (std::holds_alternative<LeafSizes>(panel.body))
    return std::max(0.8 * width, 7 * letters.line());
  if (std::holds_alternative<RowCurve>(panel.body))
    return heading_height(panel, {0, 0, width, width}, letters) + 0.5 * width;
  const auto* message = std::get_if<Message>(&panel.body);
  const auto lines = letters.wrapped(message ? message->text : "", width - letters.size(), 8);
  return std::max(0.35 * width, letters.line() * static_cast<double>(lines.size() + 1));
}

}  // namespace fovea::drawing
