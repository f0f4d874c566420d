#include "study/timings.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "data/error.h"

namespace fovea {
namespace {

constexpr double timing_ms = 3e3;   // of rounds, for each column
constexpr double longest_ms = 5e3;  // two runs of a column that is timed
constexpr std::size_t wanted_rounds = 64;
constexpr std::size_t most_rounds = 4 * wanted_rounds;  // of a machine that is slowed down

// A request is a sitting.
constexpr std::size_t rounds_of_sitting = 8;
constexpr std::chrono::milliseconds request_time{40};  // of each column

bool can_be_timed(const ColumnState& state) {
  return state.computation && !state.stale && state.computation->applied() &&
         !is_read(state.computation->op->plan()) &&
         can_be_repeated(*state.computation, nullptr, longest_ms);
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
    if (failures_.find(state.key)) return;
    subject.columns.push_back(state.key);
    subject.computations.push_back(state.computation);
  };
  add(of.exact);
  for (const ColumnState& state : results.columns())
    if (state.head == head) add(state);
  return subject;
}

// Rounds go on if columns are only removed. Memory that was measured stays known in any case.
Timings::Cache::Answer& Timings::rounds_for(const Subject& subject) {
  Cache::Answer* known = rounds_.find(subject.head);
  if (known && known->result->columns == subject.columns) return *known;
  auto rounds = std::make_shared<Rounds>();
  rounds->columns = subject.columns;
  rounds->runs.resize(subject.columns.size());
  rounds->times.resize(subject.columns.size());
  if (known) {
    rounds->best_pace_ms = known->result->best_pace_ms;
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
bool Timings::wants_more(const Rounds& rounds) {
  double spent = 0;
  for (const TimedRuns& of_column : rounds.runs)
    for (const TimedRuns::Round& round : of_column.rounds) spent += round.run.spent_ms();
  const TimedRuns& first = rounds.runs.front();
  if (first.sittings() < enough_samples) return true;  // can_be_timed() bounds what they take
  return spent < timing_ms * static_cast<double>(rounds.runs.size()) &&
         first.rounds.size() < most_rounds &&
         quiet_rounds(first, rounds.best_pace_ms).size() < wanted_rounds;
}

// Each column was computed once, but there may be no memory for a second run: where a round fails,
// the columns are run one by one to see which.
Timings::Measured Timings::measure(const Subject& subject, bool with_memory, const Backend& backend,
                                   Run& run) {
  std::vector<ComputeRequest> requests;
  for (std::size_t c = 0; c < subject.columns.size(); ++c)
    requests.push_back(
        repetition_of(request_of(subject.columns[c].column), *subject.computations[c]));
  const Problem& problem = subject.computations.front()->op->problem();
  try {
    return {measure_rounds(problem, requests,
                           {.with_memory = with_memory,
                            .time = request_time * std::ssize(requests),
                            .most_rounds = rounds_of_sitting},
                           backend, run),
            {}};
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const std::exception&) {
    Measured measured;
    for (std::size_t c = 0; c < requests.size(); ++c) try {
        time_run(problem, requests[c], backend, run);
      } catch (const Cancelled&) {
        throw;
      } catch (const DeviceLostError&) {
        throw;
      } catch (const std::exception&) {
        measured.failed.push_back(c);
      }
    if (measured.failed.empty()) throw;
    return measured;
  }
}

void Timings::take(const Measured& more, Rounds& rounds) {
  for (std::size_t c = 0; c < more.runs.size(); ++c) rounds.runs[c].append(more.runs[c]);
  rounds.best_pace_ms = std::min(rounds.best_pace_ms, rounds.runs.front().best_pace_ms());
  for (std::size_t c = 0; c < rounds.columns.size(); ++c)
    if (const auto time = summarise(rounds.runs[c], rounds.best_pace_ms))
      rounds.times[c] = std::make_shared<const MeasuredTime>(*time);
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
    if (!known.error.empty() || !wants_more(*known.result) || (next && fewest <= rounds)) continue;
    fewest = rounds;
    next = std::move(subject);
  }
  if (!next) return;
  const bool first = std::ranges::any_of(rounds_for(*next).result->runs,
                                         [](const TimedRuns& runs) { return !runs.memory; });
  const Subject subject = std::move(*next);
  requests_.start(
      {RequestKind::timing}, subject.head,
      [subject, first](const Backend& backend, Run& run) {
        // A device has memory of its own.
        return measure(subject, first && backend.id() == "cpu", backend, run);
      },
      [this, subject, done = std::move(done)](const auto& more, const std::string& error) {
        if (more)
          for (const std::size_t c : more->failed)
            failures_.put(
                {.key = subject.columns[c], .result = nullptr, .error = "cannot be timed"});
        Cache::Answer* known = rounds_.find(subject.head);
        if (known && known->result->columns == subject.columns) {
          known->error = error;
          if (more) take(*more, *known->result);
        }
        done();
      });
}

}  // namespace fovea
