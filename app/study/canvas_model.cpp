#include "study/canvas_model.h"

#include <algorithm>
#include <cmath>

#include "session/held_head.h"
#include "study/leaf_marks.h"
#include "variants/described_variant.h"
#include "views/views.h"

namespace fovea {
namespace {

std::string subtitle_of(const ColumnState& state, bool causal, const Recurrence* recurrence) {
  return subtitle_of(find_variant(state.column.variant), state.column.values, causal,
                     state.stale ? nullptr : state.metrics.get(), recurrence);
}

/// What the tool tip of a column says of its variant.
std::string note_of(const Variant& variant, const Problem* head) {
  const Variant& described = described_variant(variant, head);
  return described.summary + (described.paper.empty() ? "" : "\n" + described.paper);
}

}  // namespace

std::optional<ColumnFigures> figures_of(const ColumnState& state, bool causal,
                                        const Recurrence* recurrence) {
  const Variant& variant = find_variant(state.column.variant);
  if (variant.reference) return {};
  ColumnFigures figures{.parameters =
                            parameters_of(variant, state.column.values, causal, recurrence)};
  figures.tree_learned_on = state.tree_learned_on;
  if (!state.tree_learned_on.empty())
    figures.parameters = "tree of " + state.tree_learned_on + ": " + figures.parameters;
  const auto known = [](double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
  };
  const auto error = state.metrics ? headline_error(*state.metrics) : std::nullopt;
  if (error) figures.error_name = error->name;
  if (state.stale) return figures;
  if (error) figures.error = known(error->value);
  if (state.computation) figures.cost = known(state.computation->cost.ratio_to_exact());
  return figures;
}

std::shared_ptr<CanvasModel> make_canvas_model(const Subject& subject, const Results& results,
                                               const std::vector<std::vector<CanvasCell>>& cells,
                                               const LeafMarks& marks) {
  auto model = std::make_shared<CanvasModel>();
  const auto& columns = results.columns();
  const Session& session = subject.session;
  model->views = session.views;
  model->cells = cells;
  for (std::size_t r = 0; r < cells.size(); ++r)
    for (std::size_t c = 0; c < std::min(cells[r].size(), columns.size()); ++c)
      if (const auto& its = columns[c].metrics; its && model->views[r]->has_token_errors)
        model->cells[r][c].token_errors = {its, &its->token_error};
  model->settings = session.settings;
  model->viewport = session.viewport;
  model->lengths = subject.lengths();
  model->pinned_query = session.pinned_query;
  model->selection = subject.selection;
  model->selected_column = subject.selected_column;
  model->marked_queries = marks.queries();
  model->marked_keys = marks.keys();
  model->comparison = subject.comparison;
  model->causal = subject.source && is_causal(session, *subject.source);
  model->dark = subject.dark;
  if (subject.source) {
    model->sequence = {subject.source, &sequence_of(*subject.source, session.layer)};
    model->key_sequence = {subject.source, &key_sequence_of(*subject.source, session.layer)};
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ColumnState& state = columns[c];
    const Problem* problem = results.head_of(state).problem.get();
    const bool causal = problem ? problem->is_causal() : model->causal;
    model->column_titles.push_back(results.title_of(static_cast<int>(c)));
    const Recurrence* recurrence = problem ? problem->recurrence.get() : nullptr;
    model->column_notes.push_back(
        subject.shows_matrix() ? "" : note_of(find_variant(state.column.variant), problem));
    model->column_subtitles.push_back(
        subject.shows_matrix() ? "as given" : subtitle_of(state, causal, recurrence));
    model->column_figures.push_back(subject.shows_matrix() ? std::nullopt
                                                           : figures_of(state, causal, recurrence));
    model->held.push_back(session.columns[c].held.has_value());
    const HeadState& head = results.head_of(state);
    const auto its = head.held && problem ? head.source : nullptr;
    const Index layer = head.key.choice.layer;
    using Tokens = std::shared_ptr<const Sequence>;
    model->held_sequence.push_back(its ? Tokens(its, &sequence_of(*its, layer)) : nullptr);
    model->held_key_sequence.push_back(its ? Tokens(its, &key_sequence_of(*its, layer)) : nullptr);
    model->exact_columns.push_back(results.exact_column(state.head));
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
