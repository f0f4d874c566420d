#include "study/timings.h"

#include <algorithm>
#include <optional>

#include "variants/learned_tree.h"

namespace fovea {
namespace {

constexpr double timing_ms = 3e3;  // of rounds, for each column
constexpr std::size_t wanted_rounds = 64;

constexpr std::size_t most_rounds = 4 * wanted_rounds;  // of a machine that is slowed down

constexpr std::chrono::milliseconds request_time{40};  // of each column, in one request

/// Of a first run, what rounds repeat: a tree is learned once.
TimedRun without_learning(const Computation& computation) {
  TimedRun run = computation.first_run;
  if (learned_steps(*computation.variant, computation.values)) run.learning = {};
  return run;
}

bool can_be_timed(const ColumnState& state) {
  return state.computation && !state.stale && state.computation->applied() &&
         !state.computation->variant->imported &&
         can_be_repeated(without_learning(*state.computation), nullptr, timing_ms);
}

/// The place of a column among those of a head's rounds.
std::optional<std::size_t> place_of(const std::vector<ComputeKey>& columns, const ComputeKey& key) {
  const auto it = std::ranges::find(columns, key);
  if (it == columns.end()) return {};
  return static_cast<std::size_t>(it - columns.begin());
}

}  // namespace

void Timings::annotate(ColumnState& state) {
  state.time.reset();
  state.memory.reset();
  const Cache::Answer* known = state.computation ? rounds_.find(state.key.head) : nullptr;
  if (!known) return;
  const auto place = place_of(known->result->columns, state.key);
  if (!place) return;
  state.time = known->result->times[*place];
  state.memory = known->result->runs[*place].memory;
}

// Columns that are equal run once. Exact attention of a long head takes too long to be repeated:
// the others are timed without it.
Timings::Subject Timings::subject_of(const Results& results, std::size_t head) {
  const HeadState& of = results.heads()[head];
  Subject subject{.head = of.key};
  const auto add = [&](const ColumnState& state) {
    if (!can_be_timed(state) || place_of(subject.columns, state.key)) return;
    subject.columns.push_back(state.key);
    subject.computations.push_back(state.computation);
  };
  add(of.exact);
  for (const ColumnState& state : results.columns())
    if (state.head == head) add(state);
  return subject;
}

// Of fewer columns the rounds go on; memory that was measured stays known in any case.
Timings::Cache::Answer& Timings::rounds_for(const Subject& subject) {
  Cache::Answer* known = rounds_.find(subject.head);
  if (known && known->result->columns == subject.columns) return *known;
  auto rounds = std::make_shared<Rounds>();
  rounds->columns = subject.columns;
  rounds->runs.resize(subject.columns.size());
  rounds->times.resize(subject.columns.size());
  if (known) {
    std::vector<std::optional<std::size_t>> before;
    for (const ComputeKey& column : subject.columns)
      before.push_back(place_of(known->result->columns, column));
    const bool fewer =
        std::ranges::all_of(before, [](const auto& place) { return place.has_value(); });
    for (std::size_t c = 0; c < before.size(); ++c) {
      if (!before[c]) continue;
      const TimedRuns& runs = known->result->runs[*before[c]];
      if (fewer)
        rounds->runs[c] = runs;
      else
        rounds->runs[c].memory = runs.memory;
      rounds->times[c] = known->result->times[*before[c]];  // until there are others
    }
  }
  return rounds_.put({.key = subject.head, .result = std::move(rounds)});
}

// Rounds of a machine that was slowed down are replaced, as long as the time allows it.
bool Timings::wants_more(const Cache::Answer& known) {
  const std::vector<TimedRuns>& runs = known.result->runs;
  if (runs.empty() || !known.error.empty()) return false;
  double spent = 0;
  for (const TimedRuns& of_column : runs)
    for (const TimedRuns::Round& round : of_column.rounds) spent += round.run.spent_ms();
  const TimedRuns& first = runs.front();
  return spent < timing_ms * static_cast<double>(runs.size()) &&
         first.rounds.size() < most_rounds &&
         (first.rounds.size() < enough_samples ||
          quiet_rounds(first, first.best_pace_ms()).size() < wanted_rounds);
}

void Timings::summarise_all(Rounds& rounds) {
  for (std::size_t c = 0; c < rounds.columns.size(); ++c) {
    const auto time = summarise(rounds.runs[c], rounds.runs[c].best_pace_ms());
    rounds.times[c] = time ? std::make_shared<const MeasuredTime>(*time) : nullptr;
  }
}

void Timings::measure_next(const Results& results, std::function<void()> done) {
  if (requests_.is_pending({RequestKind::timing})) return;
  std::optional<Subject> next;
  std::size_t fewest = 0;
  for (std::size_t h = 0; h < results.heads().size(); ++h) {
    Subject subject = subject_of(results, h);
    if (subject.columns.empty()) continue;
    const Cache::Answer& known = rounds_for(subject);
    const std::size_t rounds = known.result->runs.front().rounds.size();
    if (!wants_more(known) || (next && fewest <= rounds)) continue;
    fewest = rounds;
    next = std::move(subject);
  }
  if (!next) return;
  const bool first = !rounds_for(*next).result->runs.back().memory;
  const Subject subject = std::move(*next);
  requests_.start(
      {RequestKind::timing}, subject.head,
      [subject, first](const Backend& backend, Run& run) {
        std::vector<ComputeRequest> requests;
        for (std::size_t c = 0; c < subject.columns.size(); ++c) {
          ComputeRequest request = request_of(subject.columns[c].column);
          request.given = learned_tensors(*request.variant, request.values,
                                          subject.computations[c]->op->plan());
          requests.push_back(std::move(request));
        }
        // A device has memory of its own.
        return measure_rounds(subject.computations.front()->op->problem(), requests,
                              {.with_memory = first && backend.id() == "cpu",
                               .time = request_time * std::ssize(requests)},
                              backend, run);
      },
      // It was computed once: an error, such as no memory for a second run, only ends the timing.
      [this, subject, done = std::move(done)](const auto& more, const std::string& error) {
        Cache::Answer* known = rounds_.find(subject.head);
        if (known && known->result->columns == subject.columns) {
          if (more)
            for (std::size_t c = 0; c < more->size(); ++c)
              known->result->runs[c].append((*more)[c]);
          known->error = error;
          if (more) summarise_all(*known->result);
        }
        done();
      });
}

}  // namespace fovea
