#include "study/results.h"

#include <algorithm>

namespace fovea {
namespace {

Computation computed(const Problem& problem, const Column& column, const Backend& backend,
                     Run& run) {
  const ComputeRequest request{.variant = &find_variant(column.variant),
                               .values = column.values,
                               .seed = column.seed,
                               .repeats = 0};
  if (is_reference(column.variant) && problem.n() > long_head)
    if (Computation prepared = prepare(problem, request, backend, run); prepared.op->has_rows())
      return prepared;  // its output is computed piece by piece
  return compute(problem, request, backend, run);
}

}  // namespace

// Long heads take milliseconds to free: the engine's thread does it.
Results::Results(Requests& requests, const Subject& subject)
    : requests_(requests),
      subject_(subject),
      problems_(3, [this](auto old) { requests_.discard(std::move(old)); }),
      computations_(24, [this](auto old) { requests_.discard(std::move(old)); }) {}

void Results::update_problem() {
  const HeadKey key = subject_.head();
  const auto* answer =
      requests_.ask(problems_, {RequestKind::problem}, key,
                    [source = subject_.source, key](const Backend&, Run&) {
                      return problem_of(*source, {key.layer, key.head, key.scale, key.causal});
                    });
  problem_ = answer ? answer->result : nullptr;
  problem_error_ = answer ? answer->error : "";
}

void Results::update_exact() {
  update_column({.variant = reference_variant().id, .values = {}, .seed = 0}, {RequestKind::exact},
                exact_);
}

void Results::update_columns(bool exact_only) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& wanted = subject_.session.columns[i];
    ColumnState& state = columns_[i];
    const bool exact = is_reference(wanted.variant);
    if (state.computation && !(state.key.head == subject_.head())) state.computation.reset();
    if (exact_only && !exact) continue;
    update_column(wanted,
                  exact ? RequestId{RequestKind::exact}
                        : RequestId{RequestKind::column, 0, static_cast<int>(i)},
                  state);
  }
}

void Results::update_column(const Column& wanted, const RequestId& id, ColumnState& state) {
  const ComputeKey key{subject_.head(), wanted};
  if (state.computation && !(state.key.head == key.head)) state.computation.reset();
  const auto* answer = requests_.ask(
      computations_, id, key,
      [problem = problem_, wanted](const Backend& backend, Run& run) {
        return computed(*problem, wanted, backend, run);
      },
      [this, id, key] { newest_[id] = key; });
  state.column = wanted;
  state.error = answer ? answer->error : "";
  if (answer && answer->result) {
    state.computation = answer->result;
    state.key = newest_[id] = key;
  } else if (const auto newest = newest_.find(id);
             newest != newest_.end() && newest->second.head == key.head &&
             newest->second.column.variant == wanted.variant) {
    // While a slider moves, what arrived last is shown although it is no longer requested.
    if (auto result = computations_.result(newest->second)) {
      state.computation = std::move(result);
      state.key = newest->second;
    }
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
    const auto* metrics = requests_.ask(metrics_, {RequestKind::metrics, 0, column}, key,
                                        [approximate, exact](const Backend&, Run& run) {
                                          return compare(*approximate->op, approximate->output,
                                                         *exact->op, exact->output, run);
                                        });
    if (metrics) state.metrics = metrics->result;
    const auto* diagnostics = requests_.ask(diagnostics_, {RequestKind::diagnostics, 0, column},
                                            key, [approximate, exact](const Backend&, Run& run) {
                                              return diagnose(*approximate, *exact, run);
                                            });
    if (diagnostics) state.diagnostics = diagnostics->result;
  }
}

void Results::put(const ComputeKey& key, std::shared_ptr<const Computation> computation,
                  const std::string& error) {
  computations_.put(key, {std::move(computation), error});
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
  problem_error_.clear();
  newest_.clear();
  problems_.clear();
  computations_.clear();
  metrics_.clear();
  diagnostics_.clear();
}

void Results::forget_errors() {
  problems_.forget_errors();
  computations_.forget_errors();
  metrics_.forget_errors();
  diagnostics_.forget_errors();
}

// Long heads are large: only what is on screen and a little more is kept.
void Results::set_capacity(Index n) {
  computations_.set_capacity(n > 16384 ? 10 : 24);
}

std::vector<int> continued_columns(const std::vector<Column>& before,
                                   const std::vector<Column>& after) {
  std::vector<int> from(after.size(), -1);
  std::vector<bool> taken(before.size(), false);
  for (std::size_t i = 0; i < after.size(); ++i)
    for (std::size_t k = 0; k < before.size(); ++k)
      if (from[i] < 0 && !taken[k] && before[k] == after[i]) {
        from[i] = static_cast<int>(k);
        taken[k] = true;
      }
  for (std::size_t i = 0; i < std::min(after.size(), before.size()); ++i)
    if (from[i] < 0 && !taken[i] && before[i].variant == after[i].variant)
      from[i] = static_cast<int>(i);
  return from;
}

}  // namespace fovea
