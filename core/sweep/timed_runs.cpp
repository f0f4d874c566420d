#include "sweep/timed_runs.h"

#include <algorithm>
#include <limits>

#include "session/pace.h"
#include "sweep/sweep.h"

namespace fovea {
namespace {

/// Not if the approximation took less time than the clock resolves.
bool has_speed_up(const TimedRuns::Round& round) {
  return round.exact && round.run.apply.total_ms() > 0;
}

}  // namespace

void TimedRuns::append(const TimedRuns& more) {
  rounds.insert(rounds.end(), more.rounds.begin(), more.rounds.end());
  if (more.memory) memory = more.memory;
}

double TimedRuns::best_pace_ms() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Round& round : rounds)
    if (round.pace_ms > 0) best = std::min(best, round.pace_ms);
  return best;
}

double TimedRuns::spent_ms() const {
  double spent = 0;
  for (const Round& round : rounds)
    spent += round.run.spent_ms() + (round.exact ? round.exact->spent_ms() : 0);
  return spent;
}

std::vector<TimedRuns::Round> quiet_rounds(const TimedRuns& runs, double best_pace_ms) {
  std::vector<TimedRuns::Round> quiet;
  for (const TimedRuns::Round& round : runs.rounds)
    if (!slow_pace(round.pace_ms, best_pace_ms)) quiet.push_back(round);
  return quiet.size() < enough_samples ? runs.rounds : quiet;
}

TimedRuns exact_runs(const TimedRuns& runs) {
  TimedRuns exact;
  for (const TimedRuns::Round& round : runs.rounds)
    if (has_speed_up(round))
      exact.rounds.push_back({.run = *round.exact, .pace_ms = round.pace_ms, .cold = round.cold});
  return exact;
}

std::optional<MeasuredTime> summarise(const TimedRuns& runs, double best_pace_ms) {
  const auto rounds = quiet_rounds(runs, best_pace_ms);
  if (rounds.empty()) return std::nullopt;
  MeasuredTime measured;
  std::vector<TimedRun> its;
  std::vector<double> apply_speed_ups, total_speed_ups;
  for (const TimedRuns::Round& round : rounds) {
    its.push_back(round.run);
    measured.slow = measured.slow || slow_pace(round.pace_ms, best_pace_ms);
    measured.cold = measured.cold || round.cold;
    if (!has_speed_up(round)) continue;
    apply_speed_ups.push_back(round.exact->apply.total_ms() / round.run.apply.total_ms());
    total_speed_ups.push_back(round.exact->total_ms() / round.run.total_ms());
  }
  measured.timing = summarise(its);
  if (!total_speed_ups.empty()) {
    measured.apply_speed_up = summary_of("apply", std::move(apply_speed_ups));
    measured.total_speed_up = summary_of("total", std::move(total_speed_ups));
  }
  return measured;
}

TimedRuns measure_rounds(const Problem& problem, const ComputeRequest& request,
                         const RoundOptions& options, const Backend& backend, Run& run) {
  using Clock = std::chrono::steady_clock;
  const ComputeRequest exact{.variant = &reference_variant()};
  const auto round = [&] {
    TimedRuns::Round timed;
    if (options.beside_exact) timed.exact = time_run(problem, exact, backend, run);
    timed.run = time_run(problem, request, backend, run);
    return timed;
  };
  TimedRuns runs;
  if (options.with_memory)
    runs.memory = resident_use_of([&] { time_run(problem, request, backend, run); });
  const auto start = Clock::now();
  const TimedRuns::Round first = round();
  if (Clock::now() - start >= options.time)
    runs.rounds = {first};
  else
    do runs.rounds.push_back(round());
    while (Clock::now() - start < options.time && runs.rounds.size() < options.most_rounds);
  runs.paced = std::min({problem.queries(), problem.keys(), pace_length});
  const double pace = pace_ms(prefix_of(problem, runs.paced), backend, run);
  for (TimedRuns::Round& timed : runs.rounds) timed.pace_ms = pace;
  return runs;
}

bool can_be_repeated(const TimedRun& first, const TimedRun* exact, double budget_ms) {
  return 2 * (first.spent_ms() + (exact ? exact->spent_ms() : 0)) < budget_ms;
}

TimedRuns measure_again(const Problem& problem, const ComputeRequest& request,
                        const Computation& computed, const Computation* exact,
                        const Backend& backend, Run& run) {
  constexpr double budget_ms = 5e3;
  if (request.variant->imported) return {};
  const TimedRun* exact_run = exact ? &exact->first_run : nullptr;
  if (!can_be_repeated(computed.first_run, exact_run, budget_ms)) {
    TimedRuns::Round only{.run = computed.first_run, .cold = true};
    if (exact_run) only.exact = *exact_run;
    return {.rounds = {only}};
  }
  return measure_rounds(
      problem, request,
      {.beside_exact = exact_run != nullptr, .time = std::chrono::seconds(1), .most_rounds = 9},
      backend, run);
}

}  // namespace fovea
