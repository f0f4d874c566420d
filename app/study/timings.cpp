#include "study/timings.h"

#include <algorithm>
#include <limits>

namespace fovea {
namespace {

constexpr double timing_ms = 3e3;  // of rounds, for one column
constexpr std::size_t wanted_rounds = 64;

double all_ms(const TimedRun& run) {
  return run.learning.total_ms() + run.total_ms();
}

}  // namespace

void Timings::annotate(ColumnState& state) {
  state.time.reset();
  state.memory.reset();
  const Cache::Answer* measured = state.computation ? runs_.find(state.key) : nullptr;
  if (!measured) return;
  state.time = summarise(*measured->result, best_pace_ms(state.key.head));
  state.memory = measured->result->memory;
}

double Timings::best_pace_ms(const HeadKey& head) const {
  double best = std::numeric_limits<double>::infinity();
  for (const Cache::Answer& answer : runs_.answers())
    if (answer.key.head == head) best = std::min(best, answer.result->best_pace_ms());
  return best;
}

// Rounds of a machine that was slowed down are replaced, as long as the time allows it.
bool Timings::wants_more(const Cache::Answer& known) const {
  const TimedRuns& runs = *known.result;
  return known.error.empty() && runs.spent_ms() < timing_ms &&
         (runs.rounds.size() < enough_samples ||
          quiet_rounds(runs, best_pace_ms(known.key.head)).size() < wanted_rounds);
}

void Timings::measure_next(const std::vector<ColumnState>& columns, const ColumnState& exact,
                           std::function<void()> done) {
  if (requests_.is_pending({RequestKind::timing})) return;
  std::shared_ptr<const Computation> computation;
  ComputeKey key;
  std::size_t fewest = 0;
  for (const ColumnState& state : columns) {
    if (!state.computation || state.stale || !state.computation->applied()) continue;
    // One more round and one that warms up; a run that fills the budget alone stays the only one.
    if (2 * all_ms(state.computation->first_run) >= timing_ms) continue;
    const Cache::Answer* known = runs_.find(state.key);
    if (!known) known = &runs_.put({.key = state.key, .result = std::make_shared<TimedRuns>()});
    if (!wants_more(*known)) continue;
    if (computation && fewest <= known->result->rounds.size()) continue;
    fewest = known->result->rounds.size();
    computation = state.computation;
    key = state.key;
  }
  if (!computation) return;
  // Exact attention of a long head takes too long to be repeated beside every column.
  const bool beside_exact =
      !computation->variant->reference && exact.computation && exact.computation->applied() &&
      2 * (all_ms(computation->first_run) + all_ms(exact.computation->first_run)) < timing_ms;
  requests_.start(
      {RequestKind::timing}, key,
      [computation, column = key.column, beside_exact, first = fewest == 0](const Backend& backend,
                                                                            Run& run) {
        // A device has memory of its own.
        return measure_rounds(
            computation->op->problem(), request_of(column),
            {.beside_exact = beside_exact, .with_memory = first && backend.id() == "cpu"}, backend,
            run);
      },
      // It was computed once: an error, such as no memory for a second run, only ends the timing.
      [this, key, done = std::move(done)](const auto& more, const std::string& error) {
        if (Cache::Answer* known = runs_.find(key)) {
          if (more) known->result->append(*more);
          known->error = error;
        }
        done();
      });
}

}  // namespace fovea
