#include "canvas/enlarged_panel.h"

#include <algorithm>

#include "variants/variant.h"

namespace fovea::canvas {

// Exact is the column whose panel is titled so.
std::vector<int> columns_enlarged(const CanvasModel& model, int view, int column) {
  const auto& cells = model.cells[static_cast<std::size_t>(view)];
  const auto picture = [&](std::size_t c) {
    return cells[c].panel && std::holds_alternative<OutputPicture>(cells[c].panel->body);
  };
  if (!picture(static_cast<std::size_t>(column)) || model.column_titles.empty()) return {column};
  const auto exact = std::ranges::find(model.column_titles, reference_variant().label) -
                     model.column_titles.begin();
  if (exact == column || exact >= static_cast<std::ptrdiff_t>(cells.size()) ||
      !picture(static_cast<std::size_t>(exact)))
    return {column};
  return {static_cast<int>(exact), column};
}

std::shared_ptr<const CanvasModel> only(const CanvasModel& model, std::size_t row,
                                        const std::vector<int>& columns) {
  auto alone = std::make_shared<CanvasModel>(model);
  alone->views = {model.views[row]};
  alone->column_titles.clear();
  alone->column_subtitles.clear();
  alone->cells = {{}};
  for (const int column : columns) {
    const auto c = static_cast<std::size_t>(column);
    alone->column_titles.push_back(model.column_titles[c]);
    if (c < model.column_subtitles.size())
      alone->column_subtitles.push_back(model.column_subtitles[c]);
    alone->cells[0].push_back(model.cells[row][c]);
  }
  alone->selected_column.reset();
  if (model.ranges_of) alone->ranges_of = only(*model.ranges_of, row, columns);
  return alone;
}

}  // namespace fovea::canvas
