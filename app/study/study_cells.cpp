// The cells of a Study's canvas: a panel for each view of each column, and what is said until it is
// there.
#include <algorithm>
#include <bit>
#include <cmath>

#include "study/study_ask.h"

namespace fovea {
namespace {

// Spans up to this are shown entry by entry; longer ones pooled to a power of two, which divides
// what is usual.
constexpr Index unpooled_span = 1024;

IndexRange covered(double begin, double end, Index n) {
  const auto low = std::clamp<Index>(static_cast<Index>(std::floor(begin)), 0, n - 1);
  return {low, std::clamp<Index>(static_cast<Index>(std::ceil(end)), low + 1, n)};
}

std::string subtitle_of(const ColumnState& state) {
  if (is_reference(state.column.variant)) return "softmax, the reference";
  const Variant& variant = find_variant(state.column.variant);
  std::string out;
  int said = 0;
  for (std::size_t f = 0; f < variant.schema.size() && said < 2; ++f) {
    const Field& field = variant.schema[f];
    const std::string value = to_text(state.column.values[f]);
    if (value.empty()) continue;
    out += (out.empty() ? "" : ", ") + (field.choices.empty() ? field.id + " " : "") + value;
    ++said;
  }
  if (!state.metrics || state.stale) return out;
  char text[48];
  std::snprintf(text, sizeof text, "output error %.3g", state.metrics->output_rel_fro);
  return out + (out.empty() ? "" : " · ") + text;
}

bool same_status(const CanvasCell& a, const CanvasCell& b) {
  return a.status == b.status && a.progress == b.progress;
}

// But for what is said of the cells. The sequence is left out: it changes only with the panels'
// source.
bool same_pictures(const CanvasModel& a, const CanvasModel& b) {
  const auto cell = [](const CanvasCell& x, const CanvasCell& y) {
    return x.panel == y.panel && x.stale == y.stale;
  };
  const auto row = [&](const auto& x, const auto& y) { return std::ranges::equal(x, y, cell); };
  return a.views == b.views && a.column_titles == b.column_titles &&
         a.column_subtitles == b.column_subtitles && std::ranges::equal(a.cells, b.cells, row) &&
         a.settings == b.settings && a.viewport == b.viewport && a.n == b.n &&
         a.pinned_query == b.pinned_query && a.selection_begin == b.selection_begin &&
         a.selection_end == b.selection_end && a.selected_column == b.selected_column &&
         a.dark == b.dark && a.marked_queries == b.marked_queries && a.marked_keys == b.marked_keys;
}

bool same_statuses(const CanvasModel& a, const CanvasModel& b) {
  return std::ranges::equal(a.cells, b.cells, [](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, same_status);
  });
}

}  // namespace

PanelKey Study::panel_key(View view, const ComputeKey& approximate,
                          const ColumnState& state) const {
  const Index n = length();
  const Viewport& part = session_.viewport;
  const IndexRange rows = covered(part.row_begin, part.row_end, n),
                   cols = covered(part.col_begin, part.col_end, n);
  const bool metrics = view == View::cost || view == View::mask;
  const bool diagnostics = view == View::cost || view == View::level;
  return {.approximate = approximate,
          .exact = needs_exact(view) ? exact_key_ : approximate,
          .view = view,
          .settings = settings_for(view, session_.settings),
          .rows = rows,
          .cols = cols,
          .max_pixels = std::max(rows.size(), cols.size()) <= unpooled_span
                            ? unpooled_span
                            : static_cast<Index>(std::bit_ceil(unsigned(panel_pixels_))),
          .query = view == View::row ? shown_query() : 0,
          .with_metrics = metrics && state.metrics,
          .with_diagnostics = diagnostics && state.diagnostics};
}

void Study::update_cells() {
  for (std::size_t row = 0; row < cells_.size(); ++row)
    for (std::size_t i = 0; i < cells_[row].size(); ++i) update_cell(i, row, cells_[row][i]);

  auto model = std::make_shared<CanvasModel>();
  model->views = session_.views;
  model->cells = cells_;
  model->settings = session_.settings;
  model->viewport = session_.viewport;
  model->n = length();
  model->pinned_query = session_.pinned_query;
  if (selection_) {
    model->selection_begin = {selection_->first.begin, selection_->second.begin};
    model->selection_end = {selection_->first.end, selection_->second.end};
  }
  model->selected_column = selected_column_;
  model->marked_queries = marked_queries_;
  model->marked_keys = marked_keys_;
  model->dark = dark_;
  for (const ColumnState& state : columns_) {
    model->column_titles.push_back(shows_matrix() ? "Attention matrix"
                                                  : find_variant(state.column.variant).label);
    model->column_subtitles.push_back(shows_matrix() ? "as given" : subtitle_of(state));
  }
  if (model_ && same_pictures(*model, *model_)) {
    // A frame takes the cores that compute: how far it is need not be told at every step.
    constexpr auto often = std::chrono::milliseconds(100);
    if (same_statuses(*model, *model_)) return;
    if (std::chrono::steady_clock::now() - told_ < often) {
      if (!update_timer_.isActive()) update_timer_.start(often);
      return;
    }
  }
  told_ = std::chrono::steady_clock::now();
  if (source_) model->sequence = {source_, &source_->sequence};
  model_ = std::move(model);
  emit model_changed(model_);
}

void Study::update_cell(std::size_t i, std::size_t row, CanvasCell& cell) {
  cell.progress.reset();
  if (shows_matrix()) return update_matrix_cell(row, cell);
  const ColumnState& state = columns_[i];
  const View view = session_.views[row];
  const bool ranks = view == View::rank;  // decompositions take long: all else goes first
  // A row follows the pointer, which must not keep the long work from going on.
  const std::string tag = (ranks               ? "ranks "
                           : view == View::row ? "curve "
                                               : panel_tag) +
                          std::to_string(row) + " " + std::to_string(i);
  cell.stale = cell.panel != nullptr;
  const std::string error = !problem_error_.empty() ? problem_error_ : state.error;
  if (!error.empty() || !problem_ || !state.computation) {
    if (error.empty()) return say_waiting("compute " + std::to_string(i), cell);
    cell.status = "error: " + error;
    return;
  }
  if (needs_exact(view) && !exact_.computation) {
    if (exact_.error.empty()) return say_waiting("compute exact", cell);
    cell.status = "error: " + exact_.error;
    return;
  }
  if (is_map(view)) return update_map_cell(i, row, cell);
  if (view == View::output && !(exact_.computation->applied() && state.computation->applied()))
    return say_waiting(gradual_tag, cell);
  const PanelKey key = panel_key(view, column_keys_[i], state);
  std::shared_ptr<const RowReading> exact_row, its_row;
  if (view == View::row && !panels_.find(key)) {  // of rows that are known any part is quick
    const auto take = [&](int column, std::shared_ptr<const RowReading>& reading) {
      const auto* answer = ask_row(column);
      if (answer) reading = answer->result;
      if (answer && !reading) cell.status = "error: " + answer->error;
      if (!answer) say_waiting(tag, cell);
      return reading != nullptr;
    };
    if (!take(-1, exact_row) || !take(static_cast<int>(i), its_row)) return;
  }
  if (ranks) take_ranks_of_other_tolerance(key);
  ask(panels_, tag, ranks ? priority::ranks : priority::panel, key,
      [key, computation = state.computation, metrics = state.metrics,
       diagnostics = state.diagnostics,
       exact = needs_exact(view) ? exact_.computation : state.computation, source = source_,
       exact_row, its_row](const Backend& backend, Run& run) {
        return make_panel(key.view,
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
                           .approximate_row = its_row ? &its_row->values : nullptr},
                          run);
      });
  show_answer(panels_.find(key), tag, cell);
  if (!cell.status.empty() && (key.with_metrics || key.with_diagnostics)) {
    // The same picture without the new figures is not out of date.
    PanelKey plain = key;
    plain.with_metrics = plain.with_diagnostics = false;
    if (const auto* known = panels_.find(plain)) show_answer(known, tag, cell);
  }
  if (cell.panel && cell.status.empty() && state.stale) {
    cell.stale = true;
    say_waiting("compute " + std::to_string(i), cell);
  }
}

// A source that holds only an attention matrix: it is drawn, nothing is computed.
void Study::update_matrix_cell(std::size_t row, CanvasCell& cell) {
  const std::string tag = panel_tag + std::to_string(row);
  cell.stale = cell.panel != nullptr;
  const ComputeKey itself{head_key(), session_.columns.front()};
  const PanelKey key = panel_key(session_.views[row], itself, columns_.front());
  if (key.view == View::rank) take_ranks_of_other_tolerance(key);
  ask(panels_, tag, priority::panel, key,
      [key, source = source_](const Backend& backend, Run& run) {
        const HeadKey& of = key.approximate.head;
        const Matrix attention =
            source->layers[static_cast<std::size_t>(of.layer)].attention.read(of.head);
        Panel panel = make_matrix_panel(key.view, attention, key.settings, key.rows, key.cols,
                                        key.max_pixels, backend, run);
        panel.title = "Attention matrix";
        return panel;
      });
  show_answer(panels_.find(key), tag, cell);
}

// Singular values do not depend on the tolerance: while it moves, ranks are only counted anew.
void Study::take_ranks_of_other_tolerance(const PanelKey& key) {
  if (panels_.find(key)) return;
  const auto known = panels_.result_where([&key](PanelKey other) {
    other.settings.rank_tolerance = key.settings.rank_tolerance;
    return other == key;
  });
  if (!known) return;
  auto panel = std::make_shared<Panel>(*known);
  set_rank_tolerance(*panel, key.settings.rank_tolerance);
  panels_.put(key, {.result = std::move(panel), .error = {}});
}

void Study::show_answer(const Shelf<PanelKey, Panel>::Answer* answer, const std::string& tag,
                        CanvasCell& cell) const {
  if (!answer) {
    say_waiting(tag, cell);
  } else if (!answer->result) {
    cell.status = "error: " + answer->error;
  } else {
    cell.panel = answer->result;
    cell.stale = false;
    cell.status.clear();
  }
}

void Study::say_waiting(const std::string& tag, CanvasCell& cell) const {
  const Engine::Status status = engine_->status();
  if (!source_ && !opening_) {
    cell.status = "nothing is open";
  } else if (paused_) {
    cell.status = "cancelled: Compute > Compute again (F5) goes on";
  } else if (!status.busy || status.tag != tag) {
    cell.status = "waiting";
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "computing %.0f %%", 100 * status.fraction);
    cell.status = text + time_left_text(tag);
    cell.progress = status.fraction;
  }
}

/// ", 12 s left" of a running job.
std::string Study::time_left_text(const std::string& tag) const {
  const Engine::Status status = engine_->status();
  const double left = status.tag == tag ? seconds_left(status) : 0;
  return left > 1 ? ", " + std::to_string(std::lround(left)) + " s left" : "";
}

double seconds_left(const Engine::Status& status) {
  if (!status.busy || status.fraction < 0.02 || status.seconds < 0.5) return 0;
  return status.seconds * (1 - status.fraction) / status.fraction;
}

}  // namespace fovea
