#include "drawing/bodies.h"

namespace fovea::drawing {

double heading_height(const Panel& panel, const Rect& body, const Lettering& letters) {
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body))
    return leaf_heading_height(*leaves, body, letters);
  if (const auto* row = std::get_if<RowCurve>(&panel.body))
    return row_heading_height(*row, body.width, letters);
  return 0;
}

Legend legend_of(const BodyDrawing& d) {
  if (const auto* leaves = std::get_if<LeafSizes>(&d.prepared.panel->body))
    return legend_of(d, *leaves);
  if (const auto* row = std::get_if<RowCurve>(&d.prepared.panel->body)) return legend_of(d, *row);
  return {};
}

void draw_body(const BodyDrawing& d) {
  std::visit([&](const auto& body) { draw(d, body); }, d.prepared.panel->body);
}

}  // namespace fovea::drawing
