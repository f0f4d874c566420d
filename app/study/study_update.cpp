// How a Study gets what its Session wants: everything is asked for declaratively on every change.
// Cells, readings and timings have files of their own.
#include <algorithm>

#include "study/study_ask.h"

namespace fovea {

void Study::update() {
  updated_ = std::chrono::steady_clock::now();
  if (!source_) return update_cells();  // an empty canvas, in the window's look
  ask_hash();
  wanted_tags_.clear();
  if (!opening_ && !shows_matrix()) {
    update_problem();
    if (problem_) {
      update_column(-1, {.variant = reference_variant().id, .values = {}, .seed = 0}, exact_);
      ask_gradual();
      for (std::size_t i = 0; i < columns_.size(); ++i)
        update_column(static_cast<int>(i), session_.columns[i], columns_[i]);
      for (std::size_t i = 0; i < columns_.size(); ++i)
        update_comparison(static_cast<int>(i), columns_[i]);
    }
  }
  filling_ = false;
  update_marks();
  update_cells();
  if (problem_ && !opening_) {
    update_readings();
    update_cards();
  }
  if ((problem_ || shows_matrix()) && !opening_) withdraw_unwanted();
  emit columns_changed();
  next_timing();
  if (!drawn() && !paused_ && !update_timer_.isActive())
    update_timer_.start(150);  // progress is told
  if ((filling_ || gradual_) && !paused_) fill_timer_.start(250);
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
  const bool is_exact = is_reference(wanted.variant);
  if (!is_exact && waits_for_first_look()) return;
  const int its_priority = is_exact ? priority::exact : priority::column;
  const auto problem = problem_;
  const std::string tag = is_exact ? "compute exact" : "compute " + std::to_string(index);
  ask(computations_, tag, its_priority, key,
      [problem, wanted, is_exact](const Backend& backend, Run& run) {
        const ComputeRequest request{.variant = &find_variant(wanted.variant),
                                     .values = wanted.values,
                                     .seed = wanted.seed,
                                     .repeats = 0};
        if (is_exact && problem->n() > long_head)
          if (Computation prepared = prepare(*problem, request, backend, run);
              prepared.op->has_rows())
            return prepared;  // its output comes piece by piece
        return compute(*problem, request, backend, run);
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
  tell_timing(has, state);
}

void Study::update_comparison(int index, ColumnState& state) {
  state.metrics.reset();
  state.diagnostics.reset();
  if (!state.computation || !exact_.computation) return;
  if (!state.computation->applied() || !exact_.computation->applied()) return;
  const ComparisonKey key{column_keys_[static_cast<std::size_t>(index)], exact_key_};
  const auto approximate = state.computation, exact = exact_.computation;
  ask(metrics_, "metrics " + std::to_string(index), priority::metrics, key,
      [approximate, exact](const Backend&, Run& run) {
        return compare(*approximate->op, approximate->output, *exact->op, exact->output, run);
      });
  ask(diagnostics_, "diagnostics " + std::to_string(index), priority::diagnostics, key,
      [approximate, exact](const Backend&, Run& run) {
        return diagnose(*approximate, *exact, run);
      });
  state.metrics = metrics_.result(key);
  state.diagnostics = diagnostics_.result(key);
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

}  // namespace fovea
