#include "study/timings.h"

#include <algorithm>
#include <limits>

#include "variants/learned_tree.h"

namespace fovea {
namespace {

constexpr double timing_ms = 3e3;  // of rounds, for one column
constexpr std::size_t wanted_rounds = 64;

constexpr std::size_t most_rounds = 4 * wanted_rounds;  // of a machine that is slowed down

/// Of a first run, what rounds repeat: a tree is learned once.
TimedRun without_learning(const Computation& computation) {
  TimedRun run = computation.first_run;
  if (learned_steps(*computation.variant, computation.values)) run.learning = {};
  return run;
}

}  // namespace

void Timings::annotate(ColumnState& state) {
  state.time.reset();
  state.memory.reset();
  const Cache::Answer* measured = state.computation ? runs_.find(state.key) : nullptr;
  if (!measured) return;
  state.time = measured->result->time;
  state.memory = measured->result->runs.memory;
}

double Timings::best_pace_ms(const HeadKey& head) const {
  double best = std::numeric_limits<double>::infinity();
  for (const Cache::Answer& answer : runs_.answers())
    if (answer.key.head == head) best = std::min(best, answer.result->runs.best_pace_ms());
  return best;
}

// Rounds of a machine that was slowed down are replaced, as long as the time allows it.
bool Timings::wants_more(const Cache::Answer& known) const {
  const TimedRuns& runs = known.result->runs;
  return known.error.empty() && runs.spent_ms() < timing_ms && runs.rounds.size() < most_rounds &&
         (runs.rounds.size() < enough_samples ||
          quiet_rounds(runs, best_pace_ms(known.key.head)).size() < wanted_rounds);
}

TimedRuns Timings::exact_beside_others(const HeadKey& head) const {
  TimedRuns exact;
  for (const Cache::Answer& answer : runs_.answers())
    if (answer.key.head == head) exact.append(exact_runs(answer.result->runs));
  return exact;
}

// A faster pace tells which rounds of all columns of the head were slow. Exact attention is timed
// beside the other columns, as for their speed-ups: by itself it would be faster. Only its quiet
// rounds count, also where another column has too few of them.
void Timings::summarise_all(const HeadKey& head) {
  const double best = best_pace_ms(head);
  for (const Cache::Answer& answer : runs_.answers()) {
    if (!(answer.key.head == head)) continue;
    TimedRuns exact;
    if (is_reference(answer.key.column.variant)) exact = exact_beside_others(head);
    const auto time = summarise(exact.rounds.empty() ? answer.result->runs : exact, best);
    answer.result->time = time ? std::make_shared<const MeasuredTime>(*time) : nullptr;
  }
}

void Timings::measure_next(const Results& results, std::function<void()> done) {
  if (requests_.is_pending({RequestKind::timing})) return;
  std::shared_ptr<const Computation> computation, exact;
  ComputeKey key;
  std::size_t fewest = 0;
  for (const ColumnState& state : results.columns()) {
    if (!state.computation || state.stale || !state.computation->applied()) continue;
    if (state.computation->variant->imported) continue;
    if (!can_be_repeated(without_learning(*state.computation), nullptr, timing_ms)) continue;
    const Cache::Answer* known = runs_.find(state.key);
    if (!known) known = &runs_.put({.key = state.key, .result = std::make_shared<Measured>()});
    if (!wants_more(*known)) continue;
    if (computation && fewest <= known->result->runs.rounds.size()) continue;
    fewest = known->result->runs.rounds.size();
    computation = state.computation;
    exact = results.exact_of(state).computation;
    key = state.key;
  }
  if (!computation) return;
  // Exact attention of a long head takes too long to be repeated beside every column.
  const bool beside_exact =
      !computation->variant->reference && exact && exact->applied() &&
      can_be_repeated(without_learning(*computation), &exact->first_run, timing_ms);
  requests_.start(
      {RequestKind::timing}, key,
      [computation, column = key.column, beside_exact, first = fewest == 0](const Backend& backend,
                                                                            Run& run) {
        // A device has memory of its own.
        ComputeRequest request = request_of(column);
        request.given = learned_tensors(*request.variant, request.values, computation->op->plan());
        return measure_rounds(
            computation->op->problem(), request,
            {.beside_exact = beside_exact, .with_memory = first && backend.id() == "cpu"}, backend,
            run);
      },
      // It was computed once: an error, such as no memory for a second run, only ends the timing.
      [this, key, done = std::move(done)](const auto& more, const std::string& error) {
        if (Cache::Answer* known = runs_.find(key)) {
          if (more) known->result->runs.append(*more);
          known->error = error;
          summarise_all(key.head);
        }
        done();
      });
}

}  // namespace fovea
