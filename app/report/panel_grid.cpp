#include "report/panel_grid.h"

#include <algorithm>

#include "evaluate/not_finite.h"
#include "report/timing_panel.h"
#include "session/gradual_output.h"
#include "session/held_head.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr Index sampled_rows = 8;  // of every row of pixels, in an estimate

std::shared_ptr<const Computation> applied(Computation prepared, Run& run) {
  apply(prepared, run);
  return std::make_shared<const Computation>(std::move(prepared));
}

}  // namespace

PanelGrid::PanelGrid(const PanelGridRequest& request, Run& run) : request_(request) {
  look_at(request.viewport);
  prepare_all(run);
  if (is_long() && request.estimate) return;
  for (Head& head : heads_) find_exact(head, run);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto& [found, h] = columns_[c];
    const bool exact = found.computation->variant->reference;
    found = evaluate(heads_[h].reference, request_of(request.columns[c]),
                     exact ? heads_[h].reference.exact : applied(*found.computation, run),
                     {.metrics = true, .diagnostics = true}, request.backend, run);
  }
}

void PanelGrid::look_at(const Viewport& view) {
  const auto [queries, keys] = request_.problem.lengths();
  rows_ = visible_tokens(view.row_begin, view.row_end, queries);
  cols_ = visible_tokens(view.col_begin, view.col_end, keys);
  query_ = std::min(queries - 1, request_.query.value_or(queries / 2));
}

// Plans every column first: what a planner refuses is reported before the long run of exact
// attention.
void PanelGrid::prepare_all(Run& run) {
  const auto prepared = [&](const Head& head, const ComputeRequest& request) {
    return std::make_shared<const Computation>(
        prepare(head.reference.problem, request, request_.backend, run));
  };
  for (std::size_t c = 0; c < request_.columns.size(); ++c) {
    const Column& column = request_.columns[c];
    const std::size_t h = head_of(c);
    Head& head = heads_[h];
    auto& exact = head.reference.exact;
    if (!exact) exact = prepared(head, {.variant = &reference_variant()});
    columns_.push_back(
        {.found = {.computation =
                       is_reference(column.variant) ? exact : prepared(head, request_for(c))},
         .head = h});
  }
}

ComputeRequest PanelGrid::request_for(std::size_t column) const {
  ComputeRequest request = request_of(request_.columns[column]);
  if (const ColumnTree* tree = tree_of_column(request_.trees, column)) give_tree(request, *tree);
  return request;
}

std::size_t PanelGrid::head_of(std::size_t column) {
  const HeldProblem* held = column < request_.held.size() ? request_.held[column].get() : nullptr;
  const auto known = std::ranges::find(heads_, held, &Head::held);
  if (known != heads_.end()) return known - heads_.begin();
  heads_.push_back(
      {.held = held, .reference = {held ? held->problem : request_.problem}, .exact_map = {}});
  return heads_.size() - 1;
}

std::string PanelGrid::title_of(std::size_t column) const {
  const std::string title = label_of(request_.columns, column);
  const HeldProblem* held = heads_[columns_[column].head].held;
  return held ? title + ", " + label_of(held->held, &held->source) : title;
}

std::vector<ColumnTree> PanelGrid::trees() const {
  std::vector<ColumnTree> trees;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnTree* given = tree_of_column(request_.trees, c);
    if (auto tree = shown_tree(c, *columns_[c].found.computation, given ? given->learned_on : ""))
      trees.push_back(*std::move(tree));
  }
  return trees;
}

std::vector<std::string> PanelGrid::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](const Computation& in) {
    const std::string text = note_of_numbers(in);
    if (!text.empty() && std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
  };
  for (const Head& head : heads_) note(*head.reference.exact);
  for (const Drawn& column : columns_) note(*column.found.computation);
  return notes;
}

// Finds exact attention, for a long head together with its map in one pass.
void PanelGrid::find_exact(Head& head, Run& run) const {
  auto& exact = head.reference.exact;
  if (!is_long() || !exact->op->has_rows()) {
    exact = applied(*exact, run);
    return;
  }
  ViewSettings settings;
  settings.pool = Pool::Kind::max;
  const auto most = make_map(weights_view(), *exact, *exact, settings);
  settings.pool = Pool::Kind::mean;
  const auto mean = make_map(weights_view(), *exact, *exact, settings);
  head.exact_map = request_.settings.pool == Pool::Kind::mean ? mean : most;
  GradualOutput gradual(exact, most, mean);
  while (gradual.advance(0, 500, run)) run.check();
  exact = gradual.finish();
}

std::vector<Panel> PanelGrid::row(View view, Run& run) const {
  std::vector<Panel> panels;
  for (std::size_t c = 0; c < columns_.size(); ++c) panels.push_back(panel(view, c, run));
  return panels;
}

Panel PanelGrid::panel(View view, std::size_t column, Run& run) const {
  Panel its = panel(view, columns_[column], run);
  its.title = title_of(column);
  return its;
}

std::vector<Panel> PanelGrid::timings(Run& run) const {
  std::vector<Panel> panels;
  const auto measured = times(run);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    panels.push_back(measured[c] ? timing_panel(*columns_[c].found.computation, *measured[c])
                                 : Panel{.body = Message{"read from the file: there is no time"}});
    panels.back().title = title_of(c);
  }
  return panels;
}

std::vector<std::optional<MeasuredTime>> PanelGrid::times(Run& run) const {
  std::vector<std::optional<MeasuredTime>> times(columns_.size());
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    std::vector<std::size_t> places;
    std::vector<Repeated> columns;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].head != h) continue;
      places.push_back(c);
      columns.push_back({request_for(c), columns_[c].found.computation.get()});
    }
    const Reference& reference = heads_[h].reference;
    const auto runs =
        measure_again(reference.problem, columns, reference.exact.get(), {}, request_.backend, run);
    for (std::size_t c = 0; c < places.size(); ++c)
      times[places[c]] = summarise(runs[c], runs[c].best_pace_ms());
  }
  return times;
}

Panel PanelGrid::panel(View view, const Drawn& column, Run& run) const {
  const auto its_map = map(view, column, run);
  const HeldProblem* held = heads_[column.head].held;
  // The overview of a map has no more pixels than this.
  const Index pixels =
      its_map ? std::min(request_.max_pixels, MapPyramid::overview_side) : request_.max_pixels;
  if (its_map && (!request_.estimate || rows_.size() < request_.problem.queries())) {
    const MapView seen = map_view(rows_, cols_, pixels);
    if (seen.pixel >= its_map->overview_pixel())
      while (its_map->exact_share() < 1 && !request_.estimate) {
        const IndexRange band = its_map->next_band(0, 16);
        its_map->fill(band, run);
      }
    while (its_map->refine(seen, run)) run.check();
  }
  return make_panel(view,
                    {.computation = *column.found.computation,
                     .exact = *heads_[column.head].reference.exact,
                     .backend = request_.backend,
                     .metrics = column.found.metrics ? &*column.found.metrics : nullptr,
                     .diagnostics = column.found.metrics ? &column.found.diagnostics : nullptr,
                     .sequence = held ? sequence_of(held->source, held->held.layer)
                                      : sequence_of(request_.source, request_.layer),
                     .settings = request_.settings,
                     .rows = rows_,
                     .cols = cols_,
                     .max_pixels = pixels,
                     .query = query_,
                     .map = its_map.get()},
                    run);
}

std::shared_ptr<MapPyramid> PanelGrid::map(View view, const Drawn& column, Run& run) const {
  const bool exact = column.found.computation->variant->reference;
  if (!is_long() || !view->map || (exact && view->zero_of_exact)) return nullptr;
  const Head& head = heads_[column.head];
  if (exact && view == weights_view() && head.exact_map) return head.exact_map;
  auto its = make_map(view, *column.found.computation, *head.reference.exact, request_.settings);
  if (request_.estimate) its->estimate(sampled_rows, 0, run);
  return its;
}

}  // namespace fovea
