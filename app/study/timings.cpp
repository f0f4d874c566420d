#include "study/timings.h"

#include <algorithm>
#include <limits>

#include "session/pace.h"

namespace fovea {
namespace {

constexpr double timing_ms = 2e3;  // of repeats, for one column

// One more run with its warm-up; a run that fills the budget alone stays the only one, marked so.
bool affords_repeats(const Timing& first) {
  return first.plan_total.median_ms + first.upload_total.median_ms +
             2 * first.apply_total.median_ms <
         timing_ms;
}

bool wants_more(const TimedRuns& runs) {
  double total = 0;
  for (const auto* profiles : {&runs.plan, &runs.upload, &runs.apply})
    for (const Profile& profile : *profiles) total += profile.total_ms();
  return runs.apply.size() < 64 && total < timing_ms;
}

}  // namespace

void Timings::annotate(ColumnState& state) {
  state.timing.reset();
  state.throttled = false;
  state.memory.reset();
  const Cache::Answer* measured = state.computation ? runs_.find(state.key) : nullptr;
  if (!measured || measured->result->apply.empty()) return;
  state.timing = summarise(*measured->result);
  state.throttled = throttled(*measured);
  state.memory = measured->result->memory;
}

// By the rule of the sweep. The reported times are medians, so the median of the paces counts: a
// machine that other programs used for a moment was not slow.
bool Timings::throttled(const Cache::Answer& measured) const {
  std::vector<double> paces = measured.result->pace_ms;
  if (paces.empty()) return false;
  double best = std::numeric_limits<double>::infinity();
  for (const Cache::Answer& other : runs_.answers())
    if (other.key.head == measured.key.head)
      for (const double pace : other.result->pace_ms) best = std::min(best, pace);
  const auto middle = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
  std::ranges::nth_element(paces, middle);
  return slow_pace(*middle, best);
}

void Timings::measure_next(const std::vector<ColumnState>& columns, std::function<void()> done) {
  if (requests_.is_pending({RequestKind::timing})) return;
  std::shared_ptr<const Computation> computation;
  ComputeKey key;
  std::size_t fewest = 0;
  for (const ColumnState& state : columns) {
    if (!state.computation || state.stale || !state.computation->applied()) continue;
    if (!affords_repeats(state.computation->timing)) continue;
    const Cache::Answer* known = runs_.find(state.key);
    if (!known) known = &runs_.put({.key = state.key, .result = std::make_shared<TimedRuns>()});
    if (!known->error.empty() || !wants_more(*known->result)) continue;
    if (computation && fewest <= known->result->apply.size()) continue;
    fewest = known->result->apply.size();
    computation = state.computation;
    key = state.key;
  }
  if (!computation) return;
  requests_.start_whole(
      {RequestKind::timing}, key,
      [computation, column = key.column, first = fewest == 0](const Backend& backend, Run& run) {
        const bool with_memory = first && backend.id() == "cpu";  // a device has its own
        return measure_runs(computation->op->problem(), column, with_memory, backend, run);
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
