#include "study/results.h"

#include <algorithm>

namespace fovea {
namespace {

Computation computed(const Problem& problem, const Column& column, const Backend& backend,
                     Run& run) {
  const ComputeRequest request = request_of(column);
  if (is_reference(column.variant) && problem.n() > long_head)
    if (Computation prepared = prepare(problem, request, backend, run); prepared.op->has_rows())
      return prepared;  // its output is computed piece by piece
  return compute(problem, request, backend, run);
}

}  // namespace

RequestId computation_id(const Column& column, int place) {
  if (is_reference(column.variant)) return {RequestKind::exact};
  return {RequestKind::column, 0, place};
}

void Results::update_problem() {
  if (subject_.shows_matrix()) return update_matrix();
  matrix_.reset();
  const HeadKey key = subject_.head();
  const auto* answer = problems_.ask({RequestKind::problem}, key,
                                     [source = subject_.source, key](const Backend&, Run&) {
                                       return problem_of(*source, key.choice);
                                     });
  problem_ = answer ? answer->result : nullptr;
  problem_error_ = answer ? answer->error : "";
}

void Results::update_matrix() {
  clear();
  const Session& session = subject_.session;
  const HeadKey key{subject_.source_number, {.layer = session.layer, .head = session.head}};
  const auto* answer = matrices_.ask(
      {RequestKind::problem}, key, [source = subject_.source, key](const Backend&, Run&) {
        const auto layer = static_cast<std::size_t>(key.choice.layer);
        return source->layers[layer].attention.read(key.choice.head);
      });
  matrix_ = answer ? answer->result : nullptr;
  problem_error_ = answer ? answer->error : "";
}

void Results::update_exact() {
  update_column({.variant = reference_variant().id, .values = {}, .seed = 0}, {RequestKind::exact},
                exact_);
}

void Results::update_columns(bool exact_only) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = subject_.session.columns[i];
    ColumnState& state = columns_[i];
    if (is_reference(column.variant)) {
      state = exact_;
      state.column = column;
    } else if (!exact_only) {
      update_column(column, computation_id(column, static_cast<int>(i)), state);
    } else if (state.computation && !(state.key.head == subject_.head())) {
      state.computation.reset();
    }
  }
}

void Results::update_column(const Column& column, const RequestId& id, ColumnState& state) {
  const ComputeKey key{subject_.head(), column};
  if (state.computation && !(state.key.head == key.head)) state.computation.reset();
  const auto* answer =
      computations_.ask(id, key, [problem = problem_, column](const Backend& backend, Run& run) {
        return computed(*problem, column, backend, run);
      });
  state.column = column;
  state.error = answer ? answer->error : "";
  if (!answer || !answer->result) {
    // While a slider moves, what arrived last is shown although it is no longer requested.
    const auto& known = computations_.answers();
    const auto newest = std::ranges::find_if(known, [&](const auto& other) {
      return other.result && other.id == id && other.key.head == key.head &&
             other.key.column.variant == column.variant;
    });
    answer = newest == known.end() ? nullptr : &*newest;
  }
  if (answer) {
    state.computation = answer->result;
    state.key = answer->key;
  }
  state.stale = state.computation && !(state.key == key);
}

void Results::update_comparisons() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    ColumnState& state = columns_[i];
    state.metrics.reset();
    state.diagnostics.reset();
    if (!state.computation || !exact_.computation) continue;
    if (!state.computation->applied() || !exact_.computation->applied()) continue;
    const ComparisonKey key{state.key, exact_.key};
    const auto approximate = state.computation, exact = exact_.computation;
    const int column = static_cast<int>(i);
    const auto* metrics = metrics_.ask(
        {RequestKind::metrics, 0, column}, key, [approximate, exact](const Backend&, Run& run) {
          return compare(*approximate->op, approximate->output, *exact->op, exact->output, run);
        });
    if (metrics) state.metrics = metrics->result;
    const auto* diagnostics = diagnostics_.ask({RequestKind::diagnostics, 0, column}, key,
                                               [approximate, exact](const Backend&, Run& run) {
                                                 return diagnose(*approximate, *exact, run);
                                               });
    if (diagnostics) state.diagnostics = diagnostics->result;
  }
}

void Results::put(const ComputeKey& key, std::shared_ptr<const Computation> computation,
                  const std::string& error) {
  computations_.put({key, std::move(computation), error, {RequestKind::exact}});
}

PanelSources Results::sources_of(const PanelKey& panel, const ColumnState& column) const {
  return {PanelPart(panel),
          subject_.source,
          matrix_,
          column.computation,
          needs_exact(panel.view) ? exact_.computation : column.computation,
          panel.with_metrics ? column.metrics : nullptr,
          panel.with_diagnostics ? column.diagnostics : nullptr,
          nullptr,
          nullptr};
}

void Results::continue_columns(const std::vector<Column>& columns, const std::vector<int>& from) {
  std::vector<ColumnState> next(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (from[i] >= 0 && static_cast<std::size_t>(from[i]) < columns_.size())
      next[i] = columns_[static_cast<std::size_t>(from[i])];
    next[i].column = columns[i];
  }
  columns_ = std::move(next);
}

void Results::clear() {
  for (ColumnState& state : columns_) state = {.column = state.column};
  exact_ = {};
  problem_.reset();
  matrix_.reset();
  problem_error_.clear();
}

}  // namespace fovea
