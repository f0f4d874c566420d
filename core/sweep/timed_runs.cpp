#include "sweep/timed_runs.h"

#include <algorithm>
#include <chrono>

#include "session/pace.h"
#include "sweep/sweep.h"

namespace fovea {

void TimedRuns::append(const TimedRuns& more) {
  const auto join = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  join(plan, more.plan);
  join(upload, more.upload);
  join(apply, more.apply);
  join(pace_ms, more.pace_ms);
  if (more.memory) memory = more.memory;
}

TimedRuns measure_runs(const Problem& problem, const Column& column, bool with_memory,
                       const Backend& backend, Run& run) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds enough{40};
  constexpr std::size_t most_runs = 16;
  TimedRuns runs;
  const auto bind = [&] { return plan_and_bind(problem, request_of(column), backend, run); };
  if (with_memory) runs.memory = resident_use_of([&] { apply_once(*bind().op, run.profile, run); });
  const BoundPlan bound = bind();
  runs.plan = {bound.plan};
  runs.upload = {bound.upload};
  const auto first = Clock::now();
  apply_once(*bound.op, run.profile, run);
  do {
    Profile profile;
    apply_once(*bound.op, profile, run);
    runs.apply.push_back(std::move(profile));
  } while (Clock::now() - first < enough && runs.apply.size() < most_runs);
  runs.pace_ms = {pace_ms(prefix_of(problem, std::min(problem.n(), pace_length)), backend, run)};
  return runs;
}

}  // namespace fovea
