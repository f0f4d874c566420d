#include "study/panel_cells.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fovea {
namespace {

// Spans up to this are shown entry by entry; longer ones are pooled to a power of two, which
// divides most lengths.
constexpr Index unpooled_span = 1024;

IndexRange covered(double begin, double end, Index n) {
  const auto low = std::clamp<Index>(static_cast<Index>(std::floor(begin)), 0, n - 1);
  return {low, std::clamp<Index>(static_cast<Index>(std::ceil(end)), low + 1, n)};
}

/// Does the view show anything of the reference?
bool needs_exact(View view) {
  switch (view) {
    case View::heatmap:
    case View::mask:
    case View::level:
    case View::tree:
      return false;
    default:
      return true;
  }
}

/// Settings that the view's data do not depend on are set to their defaults.
ViewSettings settings_for(View view, ViewSettings settings) {
  const ViewSettings standard;
  settings.colormap = standard.colormap;
  settings.rank_colour = standard.rank_colour;
  settings.shared_range = standard.shared_range;
  settings.ranges.clear();
  settings.hidden.clear();
  if (view != View::row) settings.log_floor = standard.log_floor;
  if (view != View::error) settings.error = standard.error;
  if (view != View::mask) settings.mask_block = standard.mask_block;
  if (view != View::rank) {
    settings.rank_of = standard.rank_of;
    settings.rank_leaf = standard.rank_leaf;
    settings.rank_tolerance = standard.rank_tolerance;
    settings.rank_partition = standard.rank_partition;
  }
  return settings;
}

RequestId compute_id(std::size_t column, const ColumnState& state) {
  if (is_reference(state.column.variant)) return {RequestKind::exact};
  return {RequestKind::column, 0, static_cast<int>(column)};
}

RequestId panel_id(View view, std::size_t row, std::size_t column) {
  // Decompositions take long, and a row that follows the pointer must not stop long work.
  const RequestKind kind = view == View::rank  ? RequestKind::ranks
                           : view == View::row ? RequestKind::curve
                                               : RequestKind::panel;
  return {kind, static_cast<int>(row), static_cast<int>(column)};
}

bool failed(const CanvasCell& cell) {
  return cell.status.starts_with("error");
}

}  // namespace

void PanelCells::update() {
  for (std::size_t row = 0; row < cells_.size(); ++row)
    for (std::size_t i = 0; i < cells_[row].size(); ++i) {
      CanvasCell& cell = cells_[row][i];
      cell.progress.reset();
      if (subject_.shows_matrix())
        update_matrix_cell(row, cell);
      else
        update_cell(i, row, cell);
    }
}

PanelKey PanelCells::panel_key(View view, const ColumnState& state) const {
  const Index n = subject_.length();
  const Viewport& part = subject_.session.viewport;
  const IndexRange rows = covered(part.row_begin, part.row_end, n),
                   cols = covered(part.col_begin, part.col_end, n);
  const bool metrics = view == View::cost || view == View::mask;
  const bool diagnostics = view == View::cost || view == View::level;
  return {.approximate = state.key,
          .exact = needs_exact(view) ? results_.exact().key : state.key,
          .view = view,
          .settings = settings_for(view, subject_.session.settings),
          .rows = rows,
          .cols = cols,
          .max_pixels = std::max(rows.size(), cols.size()) <= unpooled_span
                            ? unpooled_span
                            : static_cast<Index>(std::bit_ceil(unsigned(subject_.panel_pixels))),
          .query = view == View::row ? subject_.shown_query() : 0,
          .with_metrics = metrics && state.metrics,
          .with_diagnostics = diagnostics && state.diagnostics};
}

void PanelCells::update_cell(std::size_t i, std::size_t row, CanvasCell& cell) {
  const ColumnState& state = results_.columns()[i];
  const ColumnState& exact = results_.exact();
  const View view = subject_.session.views[row];
  const RequestId id = panel_id(view, row, i);
  cell.stale = cell.panel != nullptr;
  const bool lacks_exact = needs_exact(view) && !exact.computation;
  const bool lacks_output = view == View::output && state.computation && exact.computation &&
                            !(exact.computation->applied() && state.computation->applied());
  for (const std::string& error : {results_.problem_error(), state.error,
                                   lacks_exact || lacks_output ? exact.error : std::string()})
    if (!error.empty()) {
      cell.status = "error: " + error;
      return;
    }
  if (!results_.problem() || !state.computation)
    return show_waiting(requests_, compute_id(i, state), cell);
  if (lacks_exact) return show_waiting(requests_, {RequestKind::exact}, cell);
  const PanelKey key = panel_key(view, state);
  if (maps_.shows(view)) return maps_.update_cell(i, row, key, cell);
  if (lacks_output) return show_waiting(requests_, {RequestKind::exact_rows}, cell);
  std::shared_ptr<const RowReading> exact_row, its_row;
  if (view == View::row && !panels_.find(key) &&
      !read_rows(static_cast<int>(i), id, cell, exact_row, its_row))
    return;
  if (view == View::rank) use_ranks_of_other_tolerance(key);
  show(ask_panel(id, key, state, exact_row, its_row), id, cell);
  if (!cell.status.empty() && (key.with_metrics || key.with_diagnostics)) {
    // The same picture without the new figures is not out of date.
    PanelKey plain = key;
    plain.with_metrics = plain.with_diagnostics = false;
    if (const auto* known = panels_.find(plain)) show(known, id, cell);
  }
  if (cell.panel && cell.status.empty() && state.stale) {
    cell.stale = true;
    show_waiting(requests_, compute_id(i, state), cell);
  }
}

const PanelCells::PanelCache::Answer* PanelCells::ask_panel(
    const RequestId& id, const PanelKey& key, const ColumnState& state,
    std::shared_ptr<const RowReading> exact_row, std::shared_ptr<const RowReading> row) {
  const auto exact = needs_exact(key.view) ? results_.exact().computation : state.computation;
  return requests_.ask(panels_, id, key,
                       [key, computation = state.computation, metrics = state.metrics,
                        diagnostics = state.diagnostics, exact, source = subject_.source, exact_row,
                        row](const Backend& backend, Run& run) {
                         return make_panel(
                             key.view,
                             {.computation = *computation,
                              .exact = *exact,
                              .backend = backend,
                              .metrics = key.with_metrics ? metrics.get() : nullptr,
                              .diagnostics = key.with_diagnostics ? diagnostics.get() : nullptr,
                              .sequence = source->sequence,
                              .settings = key.settings,
                              .rows = key.rows,
                              .cols = key.cols,
                              .max_pixels = key.max_pixels,
                              .query = key.query,
                              .exact_row = exact_row ? &exact_row->values : nullptr,
                              .approximate_row = row ? &row->values : nullptr},
                             run);
                       });
}

// Of rows that are known any part is quick to draw.
bool PanelCells::read_rows(int column, const RequestId& id, CanvasCell& cell,
                           std::shared_ptr<const RowReading>& exact,
                           std::shared_ptr<const RowReading>& row) {
  const auto read = [&](int of, std::shared_ptr<const RowReading>& reading) {
    const auto* answer = probe_.row(of);
    if (answer) reading = answer->result;
    if (answer && !reading) cell.status = "error: " + answer->error;
    if (!answer) show_waiting(requests_, id, cell);
    return reading != nullptr;
  };
  return read(-1, exact) && read(column, row);
}

// The source holds only an attention matrix: it is drawn, nothing is computed.
void PanelCells::update_matrix_cell(std::size_t row, CanvasCell& cell) {
  const RequestId id{RequestKind::panel, static_cast<int>(row), 0};
  cell.stale = cell.panel != nullptr;
  ColumnState itself = results_.columns().front();
  itself.key = {subject_.head(), subject_.session.columns.front()};
  const PanelKey key = panel_key(subject_.session.views[row], itself);
  if (key.view == View::rank) use_ranks_of_other_tolerance(key);
  const auto* answer = requests_.ask(
      panels_, id, key, [key, source = subject_.source](const Backend& backend, Run& run) {
        const HeadKey& of = key.approximate.head;
        const Matrix attention =
            source->layers[static_cast<std::size_t>(of.layer)].attention.read(of.head);
        Panel panel = make_matrix_panel(key.view, attention, key.settings, key.rows, key.cols,
                                        key.max_pixels, backend, run);
        panel.title = "Attention matrix";
        return panel;
      });
  show(answer, id, cell);
}

// Singular values do not depend on the tolerance: while it changes, ranks are only counted again.
void PanelCells::use_ranks_of_other_tolerance(const PanelKey& key) {
  if (panels_.find(key)) return;
  const auto known = panels_.result_where([&key](PanelKey other) {
    other.settings.rank_tolerance = key.settings.rank_tolerance;
    return other == key;
  });
  if (!known) return;
  auto panel = std::make_shared<Panel>(*known);
  set_rank_tolerance(*panel, key.settings.rank_tolerance);
  panels_.put(key, {.result = std::move(panel)});
}

void PanelCells::show(const PanelCache::Answer* answer, const RequestId& id,
                      CanvasCell& cell) const {
  if (!answer) {
    show_waiting(requests_, id, cell);
  } else if (!answer->result) {
    cell.status = "error: " + answer->error;
  } else {
    cell.panel = answer->result;
    cell.stale = false;
    cell.status.clear();
  }
}

bool PanelCells::complete() const {
  return std::ranges::all_of(cells_, [](const auto& row) {
    return std::ranges::all_of(
        row, [](const CanvasCell& cell) { return failed(cell) || (cell.panel && !cell.stale); });
  });
}

void PanelCells::continue_cells(const Session& next, const std::vector<int>& from) {
  std::vector<std::vector<CanvasCell>> cells(next.views.size(),
                                             std::vector<CanvasCell>(next.columns.size()));
  const auto& views = subject_.session.views;
  for (std::size_t r = 0; r < next.views.size(); ++r) {
    const auto old =
        static_cast<std::size_t>(std::ranges::find(views, next.views[r]) - views.begin());
    for (std::size_t i = 0; old < cells_.size() && i < from.size(); ++i)
      if (const auto before = static_cast<std::size_t>(from[i]); before < cells_[old].size())
        cells[r][i] = cells_[old][before];
  }
  cells_ = std::move(cells);
}

}  // namespace fovea
