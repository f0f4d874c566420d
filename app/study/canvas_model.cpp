#include "study/canvas_model.h"

#include "study/leaf_marks.h"

namespace fovea {
namespace {

std::string subtitle_of(const ColumnState& state) {
  if (is_reference(state.column.variant)) return "softmax, the reference";
  const Variant& variant = find_variant(state.column.variant);
  std::string out;
  int shown = 0;
  for (std::size_t f = 0; f < variant.schema.size() && shown < 2; ++f) {
    const Field& field = variant.schema[f];
    const std::string value = to_text(state.column.values[f]);
    if (value.empty()) continue;
    out += (out.empty() ? "" : ", ") + (field.choices.empty() ? field.id + " " : "") + value;
    ++shown;
  }
  if (!state.metrics || state.stale) return out;
  char text[48];
  std::snprintf(text, sizeof text, "output error %.3g", state.metrics->output_rel_fro);
  return out + (out.empty() ? "" : " · ") + text;
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
  if (const auto& part = subject.selection) {
    model->selection_begin = {part->first.begin, part->second.begin};
    model->selection_end = {part->first.end, part->second.end};
  }
  model->selected_column = subject.selected_column;
  model->marked_queries = marks.queries();
  model->marked_keys = marks.keys();
  model->dark = subject.dark;
  if (subject.source) model->sequence = {subject.source, &subject.source->sequence};
  for (const ColumnState& state : columns) {
    const bool matrix = subject.shows_matrix();
    model->column_titles.push_back(matrix ? "Attention matrix"
                                          : find_variant(state.column.variant).label);
    model->column_subtitles.push_back(matrix ? "as given" : subtitle_of(state));
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
