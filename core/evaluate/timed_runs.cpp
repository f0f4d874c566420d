#include "evaluate/timed_runs.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

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

/// `rounds` follow one another; each has the rounds of all requests.
void set_sittings(std::vector<std::vector<TimedRuns::Round>>& rounds) {
  int sitting = 0;
  for (auto& together : rounds) {
    double ms = 0;
    for (TimedRuns::Round& round : together) {
      round.sitting = sitting;
      ms += round.run.spent_ms();
    }
    if (ms >= long_round.count()) ++sitting;
  }
}

/// The first run as the only round, cold. `exact` may be null. On a device there is no ratio:
/// exact attention has uploaded what the column found there.
TimedRuns first_run_alone(const Computation& computed, const Computation* exact) {
  TimedRuns::Round only{.run = computed.first_run, .cold = true};
  if (exact && computed.backend == "cpu") only.exact = exact->first_run;
  return {.rounds = {only}};
}

constexpr std::size_t wanted_sittings = enough_samples + 3;

/// `round_ms`: about the time that a round takes. A sitting has several rounds if they are brief.
RoundOptions rounds_for_interval(std::size_t columns, double round_ms) {
  constexpr double most_ms = 20e3;
  constexpr std::size_t in_sitting = 4;
  const double ms = std::max(1e3 * static_cast<double>(columns),
                             std::min(most_ms, (enough_samples + 2) * round_ms));
  return {.time = std::chrono::milliseconds(static_cast<std::int64_t>(ms)),
          .most_rounds = wanted_sittings * (round_ms < long_round.count() ? in_sitting : 1)};
}

/// Whether each round is a sitting by itself, as it takes that long.
bool has_long_rounds(const std::vector<TimedRuns>& all) {
  double ms = 0;
  for (const TimedRuns& runs : all)
    for (const TimedRuns::Round& round : runs.rounds) ms += round.run.spent_ms();
  return ms >= long_round.count() * static_cast<double>(all.front().rounds.size());
}

/// The ratios of the rounds that have one, sitting by sitting.
std::vector<std::vector<double>> ratios_of_sittings(
    const std::vector<TimedRuns::Round>& rounds,
    const std::function<double(const TimedRuns::Round&)>& ratio) {
  std::vector<std::vector<double>> ratios;
  std::optional<int> sitting;
  for (const TimedRuns::Round& round : rounds) {
    if (!has_speed_up(round)) continue;
    if (std::exchange(sitting, round.sitting) != round.sitting) ratios.emplace_back();
    ratios.back().push_back(ratio(round));
  }
  return ratios;
}

/// Each round is a sitting, as it is long, or as there are few.
std::vector<TimedRuns> measure_single_rounds(const Problem& problem,
                                             const std::vector<ComputeRequest>& requests,
                                             const RoundOptions& options, const Backend& backend,
                                             Run& run) {
  auto all = measure_rounds(problem, requests, options, backend, run);
  for (TimedRuns& runs : all)
    for (std::size_t round = 0; round < runs.rounds.size(); ++round)
      runs.rounds[round].sitting = static_cast<int>(round);
  return all;
}

}  // namespace

void TimedRuns::append(const TimedRuns& more) {
  const int before = sittings();
  for (Round round : more.rounds) {
    round.sitting += before;
    rounds.push_back(std::move(round));
  }
  paced = more.paced;
  if (more.memory) memory = more.memory;
}

int TimedRuns::sittings() const {
  return rounds.empty() ? 0 : rounds.back().sitting + 1;
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
  int sittings = 0;
  for (const TimedRuns::Round& round : runs.rounds) {
    if (slow_pace(round.pace_ms, best_pace_ms)) continue;
    if (quiet.empty() || quiet.back().sitting != round.sitting) ++sittings;
    quiet.push_back(round);
  }
  return sittings < enough_samples ? runs.rounds : quiet;
}

TimedRuns exact_runs(const TimedRuns& runs) {
  TimedRuns exact;
  for (const TimedRuns::Round& round : runs.rounds)
    if (has_speed_up(round))
      exact.rounds.push_back({.run = *round.exact,
                              .pace_ms = round.pace_ms,
                              .cold = round.cold,
                              .sitting = round.sitting});
  return exact;
}

std::optional<MeasuredTime> summarise(const TimedRuns& runs, double best_pace_ms) {
  const auto rounds = quiet_rounds(runs, best_pace_ms);
  if (rounds.empty()) return std::nullopt;
  MeasuredTime measured;
  std::vector<TimedRun> its;
  std::vector<double> exact_totals;
  for (const TimedRuns::Round& round : rounds) {
    its.push_back(round.run);
    measured.slow = measured.slow || slow_pace(round.pace_ms, best_pace_ms);
    measured.cold = measured.cold || round.cold;
    if (has_speed_up(round)) exact_totals.push_back(round.exact->total_ms());
  }
  measured.timing = summarise(its);
  if (!exact_totals.empty()) {
    const auto speed_up = [&](const auto& ms) {
      return speed_up_in(ratios_of_sittings(
          rounds, [&](const TimedRuns::Round& round) { return ms(*round.exact) / ms(round.run); }));
    };
    measured.apply_speed_up = speed_up([](const TimedRun& run) { return run.apply.total_ms(); });
    measured.total_speed_up = speed_up([](const TimedRun& run) { return run.total_ms(); });
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
  set_sittings(rounds);
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

std::vector<TimedRuns> measure_in_sittings(const Problem& problem,
                                           const std::vector<ComputeRequest>& requests,
                                           const RoundOptions& options, const Backend& backend,
                                           Run& run) {
  constexpr std::chrono::milliseconds pause{50};
  const std::size_t rounds = options.most_rounds, sittings = std::min(wanted_sittings, rounds);
  const auto until = [&](std::size_t sitting) { return sitting * rounds / sittings; };
  std::vector<TimedRuns> all(requests.size());
  for (std::size_t s = 0, end = 1; s < sittings; s = end, end = s + 1) {
    if (s > 0 && has_long_rounds(all))
      end = sittings;
    else if (s > 0)
      std::this_thread::sleep_for(pause);
    const RoundOptions its{.time = options.time / sittings * (end - s),
                           .most_rounds = until(end) - until(s)};
    const bool are_long = s > 0 && end == sittings && has_long_rounds(all);
    const auto more = are_long ? measure_single_rounds(problem, requests, its, backend, run)
                               : measure_rounds(problem, requests, its, backend, run);
    for (std::size_t r = 0; r < all.size(); ++r) all[r].append(more[r]);
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
  const auto rounds =
      options.rounds
          ? measure_single_rounds(problem, requests, *options.rounds, backend, run)
          : measure_in_sittings(problem, requests, rounds_for_interval(requests.size(), round_ms),
                                backend, run);
  std::size_t next = exact ? 1 : 0;
  for (const std::size_t c : places)
    all[c] = exact && columns[c].request.variant->reference ? rounds.front() : rounds[next++];
  return all;
}

}  // namespace fovea
