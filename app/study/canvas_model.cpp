#include "study/canvas_model.h"

#include <algorithm>

#include "study/leaf_marks.h"

namespace fovea {
namespace {

bool is_causal(const Subject& subject) {
  return subject.source && subject.session.causal.value_or(subject.source->causal.value_or(false));
}

std::string subtitle_of(const ColumnState& state, const Subject& subject) {
  return subtitle_of(find_variant(state.column.variant), state.column.values, is_causal(subject),
                     state.stale ? nullptr : state.metrics.get());
}

}  // namespace

std::shared_ptr<CanvasModel> make_canvas_model(const Subject& subject,
                                               const std::vector<ColumnState>& columns,
                                               const std::vector<std::vector<CanvasCell>>& cells,
                                               const LeafMarks& marks) {
  auto model = std::make_shared<CanvasModel>();
  const Session& session = subject.session;
  model->views = session.views;
  model->cells = cells;
  for (std::size_t r = 0; r < cells.size(); ++r)
    for (std::size_t c = 0; c < std::min(cells[r].size(), columns.size()); ++c)
      if (const auto& its = columns[c].metrics; its && model->views[r] == View::error)
        model->cells[r][c].token_errors = {its, &its->token_error};
  model->settings = session.settings;
  model->viewport = session.viewport;
  model->n = subject.length();
  model->pinned_query = session.pinned_query;
  model->selection = subject.selection;
  model->selected_column = subject.selected_column;
  model->marked_queries = marks.queries();
  model->marked_keys = marks.keys();
  model->comparison = subject.comparison;
  model->causal = is_causal(subject);
  model->dark = subject.dark;
  if (subject.source) model->sequence = {subject.source, &subject.source->sequence};
  const auto exact = std::ranges::find_if(session.columns, is_reference, &Column::variant);
  if (exact != session.columns.end())
    model->exact_column = static_cast<int>(exact - session.columns.begin());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ColumnState& state = columns[c];
    const bool matrix = subject.shows_matrix();
    model->column_titles.push_back(subject.title_of(static_cast<int>(c)));
    model->column_subtitles.push_back(matrix ? "as given" : subtitle_of(state, subject));
  }
  return model;
}

bool same_pictures(CanvasModel a, CanvasModel b) {
  for (CanvasModel* model : {&a, &b})
    for (auto& row : model->cells)
      for (CanvasCell& cell : row) {
        cell.status.clear();
        cell.progress.reset();
      }
  return a == b;
}

}  // namespace fovea
