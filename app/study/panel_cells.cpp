#include "study/panel_cells.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "views/views.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

// Spans up to this are shown entry by entry; longer ones are pooled to a power of two, which
// divides most lengths.
constexpr Index unpooled_span = 1024;

// A row that follows the pointer must not stop long work.
RequestKind panel_request(View view) {
  return view->takes_long ? RequestKind::slow_panel
         : view->of_query ? RequestKind::curve
                          : RequestKind::panel;
}

void fail(CanvasCell& cell, const std::string& error) {
  cell.status = "error: " + error;
  cell.failed = true;
}

PanelKey without_figures(PanelKey key) {
  key.with_metrics = key.with_diagnostics = false;
  return key;
}

// Whether both are of the same matrix, whatever part of it.
bool same_numbers(PanelKey a, const PanelKey& b) {
  a.rows = b.rows;
  a.cols = b.cols;
  a.max_pixels = b.max_pixels;
  return without_figures(a) == without_figures(b);
}

}  // namespace

// What is requested last runs first: the upper left panel, where a person looks first.
void PanelCells::update() {
  for (std::size_t row = cells_.size(); row-- > 0;)
    for (std::size_t column = cells_[row].size(); column-- > 0;) {
      Cell& cell = cells_[row][column];
      cell.progress.reset();
      cell.failed = false;
      cell.refining = cell.other_part = false;
      cell.stale = cell.panel != nullptr;
      update_cell(static_cast<int>(row), static_cast<int>(column), cell);
    }
}

void PanelCells::update_cell(int row, int column, Cell& cell) {
  const View view = subject_.session.views[row];
  const ColumnState& state = results_.columns()[column];
  if (subject_.shows_matrix() ? lacks_matrix(cell) : lacks_results(view, column, cell)) return;
  cell.key = panel_key(view, state);
  if (maps_.shows(view, state.column))
    update_map({RequestKind::map, row, column}, state, cell);
  else
    update_panel({panel_request(view), row, column}, state, cell);
}

/// Says how far the request is that the cell waits for.
void PanelCells::show_waiting(const RequestId& id, CanvasCell& cell) const {
  const Engine::Status status = requests_.status();
  if (requests_.paused()) {
    cell.status = cell.panel ? "out of date" : "not computed";
  } else if (status.running != id) {
    cell.status = "waiting";
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "computing %.0f %%", 100 * status.fraction);
    cell.status = text + time_left_text(status);
    cell.progress = status.fraction;
  }
}

/// Whether the matrix is not read yet, or that failed; then the cell says so.
bool PanelCells::lacks_matrix(Cell& cell) const {
  if (results_.matrix()) return false;
  if (results_.opened().error.empty())
    show_waiting({RequestKind::problem}, cell);
  else
    fail(cell, results_.opened().error);
  return true;
}

/// Whether the panel waits for a computation, or that failed; then the cell says so.
bool PanelCells::lacks_results(View view, int column, Cell& cell) const {
  const ColumnState& state = results_.columns()[column];
  const HeadState& head = results_.head_of(state);
  const ColumnState& exact = head.exact;
  const bool lacks_exact = view->needs_exact && !exact.computation;
  const bool lacks_output = view->needs_outputs && state.computation && exact.computation &&
                            !(exact.computation->applied() && state.computation->applied());
  for (const std::string& error :
       {head.error, state.error, lacks_exact || lacks_output ? exact.error : std::string()})
    if (!error.empty()) {
      fail(cell, error);
      return true;
    }
  if (!head.problem)
    show_waiting({RequestKind::column, 0, column}, cell);
  else if (!state.computation)
    show_waiting(state.request, cell);
  else if (lacks_exact)
    show_waiting({RequestKind::exact, 0, static_cast<int>(state.head)}, cell);
  else if (lacks_output)
    show_waiting(maps_.exact_id(head), cell);
  else
    return false;
  return true;
}

PanelKey PanelCells::panel_key(View view, const ColumnState& state) const {
  const auto [queries, keys] = subject_.lengths();
  const Viewport& seen = subject_.session.viewport;
  PanelKey key;
  key.view = view;
  key.settings = settings_for(view, subject_.session.settings);
  key.rows = visible_tokens(seen.row_begin, seen.row_end, queries);
  key.cols = visible_tokens(seen.col_begin, seen.col_end, keys);
  if (view->of_query) key.query = subject_.shown_query();
  key.approximate = subject_.shows_matrix() ? ComputeKey{subject_.head(), state.column} : state.key;
  key.exact = view->needs_exact ? results_.exact_of(state).key : key.approximate;
  // The error of exact attention is zero wherever one looks.
  if (view->zero_of_exact && is_reference(state.column.variant)) {
    key.rows = {0, queries};
    key.cols = {0, keys};
  }
  key.max_pixels = std::max(key.rows.size(), key.cols.size()) <= unpooled_span
                       ? unpooled_span
                       : static_cast<Index>(std::bit_ceil(unsigned(subject_.panel_pixels)));
  const bool tells_metrics =
      view->metrics == ViewKind::Uses::always ||
      (view->metrics == ViewKind::Uses::on_maps && maps_.shows(view, state.column));
  key.with_metrics = tells_metrics && state.metrics;
  key.with_diagnostics = view->uses_diagnostics && state.diagnostics;
  return key;
}

void PanelCells::update_panel(const RequestId& id, const ColumnState& state, Cell& cell) {
  const PanelKey& key = cell.key;
  if (key.view->shortcut) use_shortcut(key, *key.view->shortcut);
  PanelSources from = results_.sources_of(key, state);
  if (key.view->of_query && from.computation && !panels_.find(key) && !read_rows(id, from, cell))
    return;
  const auto make = [from](const Backend& backend, Run& run) {
    return make_panel(from, backend, run);
  };
  show(panels_.ask(id, key, make), id, cell);
  if (!cell.status.empty() && (key.with_metrics || key.with_diagnostics)) {
    // The same picture without the new figures is not out of date.
    if (const auto* known = panels_.find(without_figures(key))) show(known, id, cell);
  }
  if (cell.panel && cell.status.empty() && state.stale) {
    cell.stale = true;
    show_waiting(state.request, cell);
  }
}

/// Whether the result is there; else the cell says why it is not.
template <class Answer>
bool PanelCells::is_there(const Answer* answer, const RequestId& id, Cell& cell) const {
  if (!answer)
    show_waiting(id, cell);
  else if (!answer->result)
    fail(cell, answer->error);
  return answer && answer->result;
}

// Any part of rows that are known is quick to draw.
bool PanelCells::read_rows(const RequestId& id, PanelSources& from, Cell& cell) {
  const auto take = [&](const auto* answer, std::shared_ptr<const RowReading>& row) {
    if (answer) row = answer->result;
    return is_there(answer, id, cell);
  };
  const Index query = cell.key.query;
  return take(probe_.exact_row(id.column, query), from.exact_row) &&
         take(probe_.row(id.column, query), from.row);
}

// Brings a panel that differs in one setting alone to this value, instead of making another one.
void PanelCells::use_shortcut(const PanelKey& key, const ViewKind::Shortcut& shortcut) {
  if (panels_.find(key)) return;
  const auto without = [&shortcut](PanelKey its) {
    its.settings.own.erase(shortcut.field);
    return its;
  };
  const auto known =
      std::ranges::find_if(panels_.answers(), [&, wanted = without(key)](const auto& answer) {
        return answer.result && without(answer.key) == wanted;
      });
  if (known == panels_.answers().end()) return;
  auto panel = std::make_shared<Panel>(*known->result);
  shortcut.apply(*panel, key.settings);
  panels_.put({.key = key, .result = std::move(panel)});
}

void PanelCells::show(const PanelCache::Answer* answer, const RequestId& id, Cell& cell) const {
  if (!is_there(answer, id, cell)) return;
  cell.panel = answer->result;
  cell.stale = false;
  cell.status.clear();
}

void PanelCells::update_map(const RequestId& id, const ColumnState& state, Cell& cell) {
  const auto& map = maps_.map_of(cell.key, state);
  requests_.need(id);
  const bool finer =
      cell.drawn.error.empty() && cell.panel && !is_fully_drawn(*cell.panel) &&
      cell.drawn.version != map.result->version() &&
      (map.result->exact_share() == 1 || Clock::now() - cell.drawn.time >= picture_interval);
  if ((!(cell.drawn.key == cell.key) || finer) && !requests_.paused())
    maps_.request_picture(id, cell.key, state,
                          [this, key = cell.key](const auto& picture, const auto& error) {
                            take_picture(key, picture, error);
                          });
  const RequestId exact_id = maps_.update_bands(cell.key, id.row, id.column);
  cell.status.clear();
  if (cell.drawn.key == cell.key && !cell.drawn.error.empty())
    fail(cell, cell.drawn.error);
  else
    show_map_status(id, state, map, exact_id, cell);
}

/// Cells may have changed places since the request.
void PanelCells::take_picture(const PanelKey& key, const MapDrawing::Picture& picture,
                              const std::string& error) {
  for (auto& row : cells_)
    for (Cell& cell : row) {
      if (!(cell.key == key)) continue;
      if (picture.panel) cell.panel = picture.panel;
      cell.drawn = {key, picture.version, Clock::now(), error};
    }
}

void PanelCells::show_map_status(const RequestId& id, const ColumnState& state,
                                 const HeadMaps::Cache::Answer& map, const RequestId& exact_id,
                                 Cell& cell) const {
  if (!cell.panel) return show_waiting(id, cell);
  cell.refining = true;
  cell.other_part = !(without_figures(cell.drawn.key) == without_figures(cell.key));
  cell.stale = state.stale || !same_numbers(cell.drawn.key, cell.key);
  if (state.stale) return show_waiting(state.request, cell);
  if (cell.stale) return show_waiting(id, cell);
  const auto* raster = std::get_if<Raster>(&cell.panel->body);
  if (!raster || (raster->complete && !cell.other_part) || !map.error.empty()) {
    cell.refining = false;
    if (raster && !raster->complete) fail(cell, map.error);
  } else if (requests_.paused()) {
    show_waiting(exact_id, cell);
  } else if (requests_.is_pending(id) && raster->estimated == 0) {
    cell.status = "refining";
  } else {
    char text[48];
    cell.progress = map.result->exact_share();
    std::snprintf(text, sizeof text, "%s: %.0f %%",
                  raster->estimated > 0 ? "estimate, exact" : "exact",
                  std::floor(100 * *cell.progress));
    const Engine::Status status = requests_.status();
    cell.status = text + (status.running == exact_id ? time_left_text(status) : std::string());
  }
}

std::vector<std::vector<CanvasCell>> PanelCells::cells() const {
  std::vector<std::vector<CanvasCell>> cells;
  for (const auto& row : cells_) cells.emplace_back(row.begin(), row.end());
  return cells;
}

bool PanelCells::ready(bool all) const {
  const auto is_ready = [all](const Cell& cell) {
    const bool takes_long = cell.key.view->takes_long;
    return cell.failed || (cell.panel && !cell.stale && !cell.other_part) || (takes_long && !all);
  };
  return std::ranges::all_of(cells_,
                             [&](const auto& row) { return std::ranges::all_of(row, is_ready); });
}

bool PanelCells::refining() const {
  return std::ranges::any_of(
      cells_, [](const auto& row) { return std::ranges::any_of(row, &Cell::refining); });
}

void PanelCells::continue_cells(const Session& next, const std::vector<int>& from) {
  std::vector<std::vector<Cell>> cells(next.views.size(), std::vector<Cell>(next.columns.size()));
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

void PanelCells::forget_maps() {
  for (auto& row : cells_)
    for (Cell& cell : row) cell.drawn = {};
}

void PanelCells::forget_errors() {
  for (auto& row : cells_)
    for (Cell& cell : row)
      if (!cell.drawn.error.empty()) cell.drawn = {};
}

}  // namespace fovea
