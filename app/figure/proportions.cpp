#include <algorithm>

#include "figure/bodies.h"

namespace fovea {
namespace {

/// Rows over columns of what has cells; nothing for plots and text.
std::optional<double> shape_of(const Panel& panel) {
  double rows = 0, cols = 0;
  if (const auto* raster = std::get_if<Raster>(&panel.body)) {
    rows = static_cast<double>(raster->rows.size());
    cols = static_cast<double>(raster->cols.size());
  } else if (std::holds_alternative<BlockMap>(panel.body)) {
    return 1.0;
  } else if (const auto* picture = std::get_if<OutputPicture>(&panel.body)) {
    rows = static_cast<double>(picture->rows);
    cols = static_cast<double>(picture->cols);
  }
  if (rows < 1 || cols < 1) return std::nullopt;
  return std::clamp(rows / cols, 0.2, 2.0);  // beyond, cells are stretched
}

}  // namespace

double wished_height(const Panel& panel, double width, const Lettering& letters) {
  if (const auto shape = shape_of(panel)) return width * *shape;
  if (const auto* table = std::get_if<FigureTable>(&panel.body))
    return table_height(*table, width, letters);
  if (std::holds_alternative<LeafSizes>(panel.body))
    return std::max(0.8 * width, 7 * letters.line());
  if (std::holds_alternative<RowCurve>(panel.body))
    return row_heading(width, letters) + 0.5 * width;
  if (std::holds_alternative<Strip>(panel.body)) return 0.35 * width;
  const auto* message = std::get_if<Message>(&panel.body);
  const auto lines =
      letters.wrapped(message ? QString::fromStdString(message->text) : QString(), width - 8, 8);
  return std::max(0.35 * width, letters.line() * static_cast<double>(lines.size() + 1));
}

QRectF plot_of(const Panel& panel, const QRectF& body, double inset, const Lettering& letters) {
  const QRectF inner = body.adjusted(inset, 0, 0, 0);
  if (const auto shape = shape_of(panel)) {
    const double width = std::min(inner.width(), inner.height() / *shape);
    // Too low a body only comes with a fixed height; then the panel is centred.
    return {inner.left() + (inner.width() - width) / 2, inner.top(), width, width * *shape};
  }
  double heading = 0;
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body))
    heading = leaf_heading(*leaves, body, letters);
  if (std::holds_alternative<RowCurve>(panel.body)) heading = row_heading(body.width(), letters);
  return inner.adjusted(0, std::min(heading, 0.8 * body.height()), 0, 0);
}

}  // namespace fovea
