#include "evaluate/timed_runs.h"

#include <algorithm>
#include <limits>

#include "evaluate/pace.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

/// False if the approximation took less time than the clock resolves.
bool has_speed_up(const TimedRuns::Round& round) {
  return round.exact && round.run.apply.total_ms() > 0;
}

/// The part of the first run that another one repeats.
double repeated_ms(const Computation& computed) {
  const bool learned = learned_steps(*computed.variant, computed.values).has_value();
  return learned ? computed.first_run.total_ms() : computed.first_run.spent_ms();
}

/// The first run as the only round, cold. `exact` may be null. On a device there is no ratio:
/// exact attention has uploaded what the column found there.
TimedRuns first_run_alone(const Computation& computed, const Computation* exact) {
  TimedRuns::Round only{.run = computed.first_run, .cold = true};
  if (exact && computed.backend == "cpu") only.exact = exact->first_run;
  return {.rounds = {only}};
}

/// `round_ms`: about the time that a round takes.
RoundOptions rounds_for_interval(std::size_t columns, double round_ms) {
  constexpr double most_ms = 20e3;
  const double ms = std::max(1e3 * static_cast<double>(columns),
                             std::min(most_ms, (enough_samples + 2) * round_ms));
  return {.time = std::chrono::milliseconds(static_cast<std::int64_t>(ms)), .most_rounds = 9};
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
  std::vector<double> apply_speed_ups, total_speed_ups, exact_totals;
  for (const TimedRuns::Round& round : rounds) {
    its.push_back(round.run);
    measured.slow = measured.slow || slow_pace(round.pace_ms, best_pace_ms);
    measured.cold = measured.cold || round.cold;
    if (!has_speed_up(round)) continue;
    apply_speed_ups.push_back(round.exact->apply.total_ms() / round.run.apply.total_ms());
    total_speed_ups.push_back(round.exact->total_ms() / round.run.total_ms());
    exact_totals.push_back(round.exact->total_ms());
  }
  measured.timing = summarise(its);
  if (!total_speed_ups.empty()) {
    measured.apply_speed_up = speed_up_of(std::move(apply_speed_ups));
    measured.total_speed_up = speed_up_of(std::move(total_speed_ups));
    measured.exact_total = summary_of("total", std::move(exact_totals));
  }
  return measured;
}

std::vector<TimedRuns> measure_rounds(const Problem& problem,
                                      const std::vector<ComputeRequest>& requests,
                                      const RoundOptions& options, const Backend& backend,
                                      Run& run) {
  std::vector<TimedRuns> all(requests.size());
  if (options.with_memory)
    for (std::size_t r = 0; r < requests.size(); ++r)
      all[r].memory = resident_use_of([&] { time_run(problem, requests[r], backend, run); });
  std::size_t begin = 0;  // the first request of the next round
  auto rounds = repeat_for(options.time, options.most_rounds, [&] {
    std::vector<TimedRuns::Round> timed(requests.size());
    // The requests take turns to begin, so that none always finds the memory of the same other one
    // in the caches.
    for (std::size_t r = 0; r < requests.size(); ++r) {
      const std::size_t turn = (begin + r) % requests.size();
      timed[turn].run = time_run(problem, requests[turn], backend, run);
    }
    begin = (begin + 1) % requests.size();
    if (requests.front().variant->reference)
      for (std::size_t r = 1; r < requests.size(); ++r) timed[r].exact = timed.front().run;
    return timed;
  });
  const Index paced = std::min({problem.queries(), problem.keys(), pace_length});
  const double pace = pace_ms(prefix_of(problem, paced), backend, run);
  for (std::size_t r = 0; r < requests.size(); ++r) {
    all[r].paced = paced;
    for (auto& timed : rounds) {
      timed[r].pace_ms = pace;
      all[r].rounds.push_back(std::move(timed[r]));
    }
  }
  return all;
}

ComputeRequest repetition_of(ComputeRequest request, const Computation& computed) {
  if (learned_steps(*request.variant, request.values))
    request.given = learned_tensors(*request.variant, request.values, computed.op->plan());
  return request;
}

bool can_be_repeated(const Computation& computed, const Computation* exact, double budget_ms) {
  return 2 * (repeated_ms(computed) + (exact ? repeated_ms(*exact) : 0)) < budget_ms;
}

std::vector<TimedRuns> measure_again(const Problem& problem, const std::vector<Repeated>& columns,
                                     const Computation* exact, const RepeatOptions& options,
                                     const Backend& backend, Run& run) {
  double round_ms = exact ? exact->first_run.total_ms() : 0;
  std::vector<TimedRuns> all(columns.size());
  std::vector<ComputeRequest> requests;
  std::vector<std::size_t> places;  // of the columns that are repeated
  if (exact) requests.push_back({.variant = &reference_variant()});
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto& [request, computed] = columns[c];
    if (request.variant->imported && is_read(computed->op->plan())) continue;
    const Computation* beside = request.variant->reference ? nullptr : exact;
    if (!can_be_repeated(*computed, beside, options.budget_ms)) {
      all[c] = first_run_alone(*computed, beside);
      continue;
    }
    places.push_back(c);
    if (exact && !beside) continue;  // its runs are those beside the others
    requests.push_back(repetition_of(request, *computed));
    round_ms += computed->first_run.total_ms();
  }
  if (places.empty()) return all;
  const RoundOptions wanted =
      options.rounds.value_or(rounds_for_interval(requests.size(), round_ms));
  const auto rounds = measure_rounds(problem, requests, wanted, backend, run);
  std::size_t next = exact ? 1 : 0;
  for (const std::size_t c : places)
    all[c] = exact && columns[c].request.variant->reference ? rounds.front() : rounds[next++];
  return all;
}

}  // namespace fovea
