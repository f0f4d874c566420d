#include "window/canvas_figure.h"

#include "drawing/colour_scale.h"
#include "panels/compared_panel.h"
#include "session/column_tree.h"
#include "views/views.h"

namespace fovea {
namespace {

Panel panel_of(const CanvasModel& model, std::size_t row, std::size_t column) {
  const CanvasCell& cell = model.cells[row][column];
  Panel panel = cell.panel ? *cell.panel
                           : Panel{.view = model.views[row],
                                   .title = {},
                                   .subtitle = {},
                                   .caption = {},
                                   .body = Message{cell.status}};
  // Titles as in the headers of the canvas.
  panel.title = model.column_titles[column];
  if (column < model.column_subtitles.size()) panel.subtitle = model.column_subtitles[column];
  if (cell.token_errors) add_row_errors(panel, *cell.token_errors);
  if (cell.panel && cell.stale)
    panel.caption = "stale" + (panel.caption.empty() ? "" : " · " + panel.caption);
  return panel;
}

/// Puts the row's two compared panels in the place of the first.
void compose(std::vector<Panel>& row, const Comparison& comparison, const WipeBorder& border) {
  const std::size_t column = comparison.column, with = comparison.with;
  const bool wiped = comparison.mode == ComparisonMode::wipe;
  if (comparison.mode == ComparisonMode::blink || std::max(column, with) >= row.size()) return;
  const Panel &first = row[column], &second = row[with];
  auto both = compared_panel(first, second, wiped ? std::optional(border) : std::nullopt);
  if (!both) return;
  const ComparisonWords words = words_of(comparison.mode, first.title, second.title);
  // Titles stay equal to those of the rows above and below.
  both->caption = words.first + words.place + ", " + words.second;
  for (const Panel* panel : {&first, &second})
    if (!panel->caption.empty()) both->caption += " · " + panel->title + ": " + panel->caption;
  row[column] = *std::move(both);
}

std::string remark_of(const CanvasModel& model, std::size_t column) {
  if (column >= model.column_figures.size() || !model.column_figures[column]) return {};
  return remark_on_tree(model.column_titles[column], model.column_figures[column]->tree_learned_on);
}

}  // namespace

Figure figure_of(const CanvasModel& model, double border, const QString& footer,
                 const FigureStyle& style) {
  Figure figure{.footer = footer.toStdString(),
                .style = style,
                .sequence = model.sequence,
                .key_sequence = model.key_sequence,
                .held_sequence = model.held_sequence,
                .held_key_sequence = model.held_key_sequence,
                .pinned_query = model.pinned_query,
                .selection = model.selection};
  figure.style.settings = model.settings;
  for (std::size_t c = 0; c < model.column_titles.size(); ++c)
    figure.remarks += remark_of(model, c);
  for (std::size_t r = 0; r < model.cells.size(); ++r) {
    auto& row = figure.rows.emplace_back();
    for (std::size_t c = 0; c < model.cells[r].size(); ++c) row.push_back(panel_of(model, r, c));
    const Viewport& seen = model.viewport;
    if (model.comparison)
      compose(row, *model.comparison,
              {seen.col_begin + border * (seen.col_end - seen.col_begin), border});
  }
  return figure;
}

Figure figure_of_panel(const CanvasModel& model, double border, std::size_t row, std::size_t column,
                       const QString& footer, const FigureStyle& style) {
  Figure figure = figure_of(model, border, footer, style);
  std::vector<const Panel*> panels;
  for (const Panel& panel : figure.rows[row]) panels.push_back(&panel);
  const auto scale = drawing::scales_of_row(model.views[row], panels, model.settings).of[column];
  figure.rows = {{figure.rows[row][column]}};
  figure.remarks = remark_of(model, column);
  for (auto* held : {&figure.held_sequence, &figure.held_key_sequence})
    if (column < held->size()) *held = {(*held)[column]};
  figure.style.settings.ranges.clear();
  if (scale && scale->is_amounts())
    figure.style.settings.ranges = {{figure.rows[0][0].view, -1, scale->low, scale->high}};
  return figure;
}

}  // namespace fovea
