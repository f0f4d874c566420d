// How a Study gets what its Session wants: everything is asked for declaratively on every change,
// and what is known or on its way is not asked again.
#include <algorithm>
#include <bit>
#include <cmath>

#include "gui/study.h"

namespace fovea {
namespace {

// Higher runs first.
namespace priority {
constexpr int problem = 90, reading = 60, panel = 50, exact = 45, column = 40, long_exact = 35,
              metrics = 30, diagnostics = 25, ranks = 20, card = 10, timing = 0;
}

constexpr double let_finish_seconds =
    0.25;  // while a slider moves: rather a picture a little late than none
constexpr double yield_seconds = 0.03;  // background work that takes longer makes way

// Spans up to this are shown entry by entry; longer ones pooled to a power of two, which divides
// what is usual.
constexpr Index unpooled_span = 1024;

bool in_background(const std::string& tag) {
  return tag == "timing" || tag.starts_with("card") || tag.starts_with("metrics") ||
         tag.starts_with("ranks") || tag.starts_with("diagnostics");
}

IndexRange covered(double begin, double end, Index n) {
  const auto low = std::clamp<Index>(static_cast<Index>(std::floor(begin)), 0, n - 1);
  return {low, std::clamp<Index>(static_cast<Index>(std::ceil(end)), low + 1, n)};
}

constexpr double timing_ms = 2e3;  // of repeats, for one column

// One run more with its warm-up; a run that fills the budget alone stays the only one, marked so.
bool affords_repeats(const Timing& first) {
  return first.plan_total.median_ms + first.upload_total.median_ms +
             2 * first.apply_total.median_ms <
         timing_ms;
}

// An error map evaluates both operators over all it covers, for every column: beyond this many
// pairs (5 to 10 s a column on two cores) nobody should have to wait for it unasked.
constexpr Index longest_error_side = 32768;

bool takes_minutes(View view, const Viewport& part, Index n) {
  const IndexRange rows = covered(part.row_begin, part.row_end, n);
  const IndexRange cols = covered(part.col_begin, part.col_end, n);
  return view == View::error && double(rows.size()) * double(cols.size()) >
                                    double(longest_error_side) * double(longest_error_side);
}

Panel refusal(const PanelKey& key) {
  const std::string side = std::to_string(longest_error_side);
  Panel panel;
  panel.view = key.view;
  panel.body = Message{"An error map of " + std::to_string(key.rows.size()) + " × " +
                       std::to_string(key.cols.size()) + " pairs takes minutes: zoom in to " +
                       side + " × " + side + "."};
  return panel;
}

bool wants_more(const TimingSamples& samples) {
  double total = 0;
  for (const auto* profiles : {&samples.plan, &samples.upload, &samples.apply})
    for (const Profile& profile : *profiles) total += profile.total_ms();
  return samples.apply.size() < 64 && total < timing_ms;
}

Timing summarised(const TimingSamples& samples) {
  return {.plan = summarise(samples.plan),
          .upload = summarise(samples.upload),
          .apply = summarise(samples.apply),
          .plan_total = summarise_total(samples.plan),
          .upload_total = summarise_total(samples.upload),
          .apply_total = summarise_total(samples.apply),
          .few_samples = samples.apply.size() < 5};
}

std::string subtitle_of(const ColumnState& state) {
  if (state.column.variant == "exact") return "softmax, the reference";
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

// The sequence is left out: it changes only with the panels' source.
bool same(const CanvasModel& a, const CanvasModel& b) {
  const auto cell = [](const CanvasCell& x, const CanvasCell& y) {
    return x.panel == y.panel && x.stale == y.stale && x.status == y.status;
  };
  const auto row = [&](const auto& x, const auto& y) { return std::ranges::equal(x, y, cell); };
  return a.views == b.views && a.column_titles == b.column_titles &&
         a.column_subtitles == b.column_subtitles && std::ranges::equal(a.cells, b.cells, row) &&
         a.settings == b.settings && a.viewport == b.viewport && a.n == b.n &&
         a.pinned_query == b.pinned_query && a.selection_begin == b.selection_begin &&
         a.selection_end == b.selection_end && a.selected_column == b.selected_column &&
         a.dark == b.dark && a.marked_queries == b.marked_queries && a.marked_keys == b.marked_keys;
}

}  // namespace

template <class Key, class Result, class Make>
void Study::ask(Shelf<Key, Result>& shelf, const std::string& tag, int its_priority, const Key& key,
                Make make) {
  wanted_tags_.insert(tag);
  if (paused_ || shelf.find(key)) return;
  const Engine::Status status = engine_->status();
  if (const Key* asked = shelf.asked(tag)) {
    if (*asked == key) return;
    if (status.tag == tag && status.seconds < let_finish_seconds) return;
  }
  if (status.busy && in_background(status.tag) && !in_background(tag) &&
      status.seconds > yield_seconds)
    withdraw(status.tag);
  shelf.ask(tag, key);
  tags_.insert(tag);
  engine_->submit(tag, its_priority,
                  [this, &shelf, tag, key, make = std::move(make)](
                      const Backend& backend, std::stop_token stop, Progress& progress) {
                    typename Shelf<Key, Result>::Answer answer;
                    try {
                      Profile profile;
                      Run run{profile, stop, &progress};
                      answer.result = std::make_shared<const Result>(make(backend, run));
                    } catch (const Cancelled&) {
                      throw;
                    } catch (const std::bad_alloc&) {
                      answer.error = "not enough memory";
                    } catch (const std::exception& error) {
                      answer.error = error.what();
                    }
                    const auto arrive = [this, &shelf, tag, key, answer = std::move(answer)] {
                      shelf.put(key, answer);
                      shelf.answered(tag, key);
                      if constexpr (std::is_same_v<Result, Computation>)
                        if (answer.result) newest_.insert_or_assign(tag, key);
                      update_later();
                    };
                    QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
                  });
}

void Study::update() {
  if (!source_) return;
  wanted_tags_.clear();
  if (opening_.empty() && !shows_matrix()) {
    update_problem();
    if (problem_) {
      update_column(-1, {.variant = "exact", .values = {}, .seed = 0}, exact_);
      for (std::size_t i = 0; i < columns_.size(); ++i)
        update_column(static_cast<int>(i), session_.columns[i], columns_[i]);
      for (std::size_t i = 0; i < columns_.size(); ++i)
        update_comparison(static_cast<int>(i), columns_[i]);
    }
  }
  update_cells();
  if (problem_ && opening_.empty()) {
    update_readings();
    update_cards();
  }
  if ((problem_ || shows_matrix()) && opening_.empty()) withdraw_unwanted();
  emit columns_changed();
  next_timing();
  if (!settled() && !paused_) update_timer_.start(150);  // progress is told
}

void Study::update_problem() {
  const HeadKey key = head_key();
  const auto source = source_;
  ask(problems_, "problem", priority::problem, key, [source, key](const Backend&, Run&) {
    return problem_of(*source, {key.layer, key.head, key.scale, key.causal});
  });
  const auto* answer = problems_.find(key);
  problem_ = answer ? answer->result : nullptr;
  problem_error_ = answer ? answer->error : "";
}

void Study::update_column(int index, const Column& wanted, ColumnState& state) {
  const ComputeKey key{head_key(), wanted};
  ComputeKey& has = index < 0 ? exact_key_ : column_keys_[static_cast<std::size_t>(index)];
  if (state.computation && !(has.head == key.head)) state.computation.reset();
  const bool is_exact = wanted.variant == "exact";
  const int its_priority = !is_exact              ? priority::column
                           : problem_->n() > 8192 ? priority::long_exact
                                                  : priority::exact;
  const auto problem = problem_;
  const std::string tag = is_exact ? "compute exact" : "compute " + std::to_string(index);
  ask(computations_, tag, its_priority, key, [problem, wanted](const Backend& backend, Run& run) {
    return compute(*problem,
                   {.variant = &find_variant(wanted.variant),
                    .values = wanted.values,
                    .seed = wanted.seed,
                    .repeats = 0},
                   backend, run);
  });
  state.column = wanted;
  const auto* answer = computations_.find(key);
  state.error = answer ? answer->error : "";
  if (answer && answer->result) {
    state.computation = answer->result;
    has = newest_[tag] = key;
  } else if (const auto newest = newest_.find(tag);
             newest != newest_.end() && newest->second.head == key.head &&
             newest->second.column.variant == wanted.variant) {
    // While a slider moves, what arrived last is shown although it is no longer asked for.
    if (auto result = computations_.result(newest->second)) {
      state.computation = std::move(result);
      has = newest->second;
    }
  }
  state.stale = state.computation && !(has == key);
  state.timing.reset();
  const auto timed = std::ranges::find(timings_, has, &TimedRuns::first);
  if (state.computation && timed != timings_.end()) state.timing = summarised(timed->second);
}

void Study::update_comparison(int index, ColumnState& state) {
  state.metrics.reset();
  state.diagnostics.reset();
  if (!state.computation || !exact_.computation) return;
  const ComparisonKey key{column_keys_[static_cast<std::size_t>(index)], exact_key_};
  const auto approximate = state.computation, exact = exact_.computation;
  ask(metrics_, "metrics " + std::to_string(index), priority::metrics, key,
      [approximate, exact](const Backend&, Run& run) {
        return compare(*approximate->op, approximate->output, *exact->op, exact->output, run);
      });
  ask(diagnostics_, "diagnostics " + std::to_string(index), priority::diagnostics, key,
      [approximate, exact](const Backend&, Run& run) {
        return diagnose(*approximate->op, approximate->output, *exact->op, exact->output, run);
      });
  state.metrics = metrics_.result(key);
  state.diagnostics = diagnostics_.result(key);
}

PanelKey Study::panel_key(View view, const ComputeKey& approximate,
                          const ColumnState& state) const {
  const Index n = length();
  const Viewport& part = session_.viewport;
  const IndexRange rows = covered(part.row_begin, part.row_end, n),
                   cols = covered(part.col_begin, part.col_end, n);
  const bool figures = view == View::output || view == View::cost || view == View::tree;
  return {.approximate = approximate,
          .exact = needs_exact(view) && !takes_minutes(view, part, n) ? exact_key_ : approximate,
          .view = view,
          .settings = settings_for(view, session_.settings),
          .rows = rows,
          .cols = cols,
          .max_pixels = std::max(rows.size(), cols.size()) <= unpooled_span
                            ? unpooled_span
                            : static_cast<Index>(std::bit_ceil(unsigned(panel_pixels_))),
          .query = view == View::row ? shown_query() : 0,
          .with_metrics = figures && state.metrics,
          .with_diagnostics = figures && state.diagnostics};
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
  if (model_ && same(*model, *model_)) return;
  model->sequence = source_->sequence;  // up to 131072 texts: only for a model that is shown
  model_ = std::move(model);
  emit model_changed(model_);
}

void Study::update_cell(std::size_t i, std::size_t row, CanvasCell& cell) {
  if (shows_matrix()) return update_matrix_cell(row, cell);
  const ColumnState& state = columns_[i];
  const View view = session_.views[row];
  const bool ranks = view == View::rank;  // decompositions take long: all else goes first
  const std::string tag =
      (ranks ? "ranks " : "panel ") + std::to_string(row) + " " + std::to_string(i);
  cell.stale = cell.panel != nullptr;
  const std::string error = !problem_error_.empty() ? problem_error_ : state.error;
  if (!error.empty() || !problem_ || !state.computation) {
    cell.status = !error.empty() ? "error: " + error : waiting_text("compute " + std::to_string(i));
    return;
  }
  const bool too_long = takes_minutes(view, session_.viewport, problem_->n());
  if (needs_exact(view) && !too_long && !exact_.computation) {
    cell.status = exact_.error.empty() ? waiting_text("compute exact") : "error: " + exact_.error;
    return;
  }
  const PanelKey key = panel_key(view, column_keys_[i], state);
  if (ranks) take_ranks_of_other_tolerance(key);
  ask(panels_, tag, ranks ? priority::ranks : priority::panel, key,
      [key, computation = state.computation, metrics = state.metrics,
       diagnostics = state.diagnostics,
       exact = needs_exact(view) && !too_long ? exact_.computation : state.computation, too_long,
       source = source_](const Backend& backend, Run& run) {
        if (too_long) return refusal(key);
        return make_panel(key.view,
                          {.computation = *computation,
                           .exact = *exact,
                           .backend = backend,
                           .metrics = metrics.get(),
                           .diagnostics = diagnostics.get(),
                           .sequence = source->sequence,
                           .settings = key.settings,
                           .rows = key.rows,
                           .cols = key.cols,
                           .max_pixels = key.max_pixels,
                           .query = key.query},
                          run);
      });
  show_answer(panels_.find(key), tag, cell);
  if (cell.panel && cell.status.empty() && state.stale) {
    cell.stale = true;
    cell.status = waiting_text("compute " + std::to_string(i));
  }
}

// A source that holds only an attention matrix: it is drawn, nothing is computed.
void Study::update_matrix_cell(std::size_t row, CanvasCell& cell) {
  const std::string tag = "panel " + std::to_string(row);
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
    cell.status = waiting_text(tag);
  } else if (!answer->result) {
    cell.status = "error: " + answer->error;
  } else {
    cell.panel = answer->result;
    cell.stale = false;
    cell.status.clear();
  }
}

std::string Study::waiting_text(const std::string& tag) const {
  if (paused_) return "cancelled: Compute > Compute again (F5) goes on";
  const Engine::Status status = engine_->status();
  if (!status.busy || status.tag != tag) return "waiting";
  char text[96];
  std::snprintf(text, sizeof text, "computing %.0f %%", 100 * status.fraction);
  const double left = seconds_left(status);
  if (left > 1)
    std::snprintf(text + std::char_traits<char>::length(text), 32, ", %.0f s left", left);
  return text;
}

void Study::update_readings() {
  const Index n = problem_->n(), query = shown_query();
  const auto inside = [&](Index i) { return i >= 0 && i < n; };
  const auto column = static_cast<std::size_t>(std::max(0, hovered_column_));
  if (inside(hovered_query_) && inside(hovered_key_) && column < columns_.size() &&
      columns_[column].computation && exact_.computation) {
    const PairKey key{column_keys_[column], exact_key_, hovered_query_, hovered_key_};
    ask(pairs_, "pair", priority::reading, key,
        [key, a = columns_[column].computation, e = exact_.computation](const Backend&, Run& run) {
          return read_pair(*a, *e, key.query, key.key, run);
        });
    if (auto result = pairs_.result(key)) emit pair_read(result);
  }
  const auto chosen = static_cast<std::size_t>(selected_column_);
  if (chosen >= columns_.size() || !columns_[chosen].computation) return;
  const RowKey row{column_keys_[chosen], query};
  ask(rows_, "row", priority::reading, row,
      [row, a = columns_[chosen].computation](const Backend&, Run& run) {
        return read_row(*a, row.query, run);
      });
  if (auto result = rows_.result(row)) emit row_read(result);
  if (!selection_ || !exact_.computation) return;
  const SelectionKey part{column_keys_[chosen], exact_key_, selection_->first, selection_->second};
  ask(selections_, "selection", priority::reading, part,
      [part, a = columns_[chosen].computation, e = exact_.computation](const Backend&, Run& run) {
        return read_selection(*a, *e, part.rows, part.cols, run);
      });
  if (auto result = selections_.result(part)) emit selection_read(result);
}

void Study::update_cards() {
  const Column column = columns_[static_cast<std::size_t>(selected_column_)].column;
  bool some = false;
  for (const auto& [layer, head] : wanted_cards_) {
    const HeadCardKey key{source_number_, layer, head, session_.causal, session_.scale, column};
    if (cards_.find(key)) continue;
    some = true;
    if (!settled()) break;
    ask(cards_, "card", priority::card, key,
        [key, source = source_](const Backend& backend, Run& run) {
          return look_at_head(*source, key, backend, run);
        });
    break;  // one at a time: the next is asked for when it arrives
  }
  if (some || cards_shown_ != wanted_cards_.size()) emit cards_changed();
  cards_shown_ = some ? 0 : wanted_cards_.size();
}

void Study::next_timing() {
  if (paused_ || timing_runs_ || !settled() || engine_->status().waiting > 0) return;
  const TimedRuns* least = nullptr;
  int column = -1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].computation || columns_[i].stale) continue;
    if (!affords_repeats(columns_[i].computation->timing)) continue;
    const ComputeKey& key = column_keys_[i];
    auto it = std::ranges::find(timings_, key, &TimedRuns::first);
    if (it == timings_.end()) it = timings_.insert(timings_.end(), {key, {}});
    if (!wants_more(it->second)) continue;
    if (least && least->second.apply.size() <= it->second.apply.size()) continue;
    least = &*it;
    column = static_cast<int>(i);
  }
  if (column < 0) return;
  timing_runs_ = true;
  const ComputeKey key = column_keys_[static_cast<std::size_t>(column)];
  const auto computation = columns_[static_cast<std::size_t>(column)].computation;
  engine_->submit(
      "timing", priority::timing,
      [this, key, computation](const Backend& backend, std::stop_token stop, Progress& progress) {
        Profile profile;
        Run run{profile, stop, &progress};
        TimingSamples samples;
        try {
          samples = take_timing(*computation, key.column.seed, backend, 40, true, run);
        } catch (const Cancelled&) {
          throw;
        } catch (const std::exception&) {
          return;  // it was computed once; without memory for a second one there is no timing
        }
        QMetaObject::invokeMethod(
            this, [this, key, samples] { add_timing(key, samples); }, Qt::QueuedConnection);
      });
}

void Study::add_timing(const ComputeKey& key, const TimingSamples& samples) {
  timing_runs_ = false;
  const auto it = std::ranges::find(timings_, key, &TimedRuns::first);
  if (it == timings_.end()) return;
  const auto append = [](std::vector<Profile>& to, const std::vector<Profile>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(it->second.plan, samples.plan);
  append(it->second.upload, samples.upload);
  append(it->second.apply, samples.apply);
  if (timings_.size() > 64) timings_.pop_front();
  update_later();
}

void Study::withdraw_unwanted() {
  for (auto it = tags_.begin(); it != tags_.end();) {
    if (wanted_tags_.contains(*it)) {
      ++it;
    } else {
      withdraw(*it);
      it = tags_.erase(it);
    }
  }
}

double seconds_left(const Engine::Status& status) {
  if (!status.busy || status.fraction < 0.02 || status.seconds < 0.5) return 0;
  return status.seconds * (1 - status.fraction) / status.fraction;
}

}  // namespace fovea
