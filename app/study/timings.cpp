#include "study/timings.h"

#include <algorithm>
#include <limits>

#include "session/pace.h"
#include "sweep/sweep.h"

namespace fovea {
namespace {

constexpr double timing_ms = 2e3;  // of repeats, for one column
constexpr double step_ms = 40;     // of them at a time

double elapsed_ms(std::chrono::steady_clock::time_point begin) {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(now - begin).count();
}

// One more run with its warm-up; a run that fills the budget alone stays the only one, marked so.
bool affords_repeats(const Timing& first) {
  return first.plan_total.median_ms + first.upload_total.median_ms +
             2 * first.apply_total.median_ms <
         timing_ms;
}

bool wants_more(const TimingSamples& samples) {
  double total = 0;
  for (const auto* profiles : {&samples.plan, &samples.upload, &samples.apply})
    for (const Profile& profile : *profiles) total += profile.total_ms();
  return samples.apply.size() < 64 && total < timing_ms;
}

Timing summarised(const TimingSamples& samples) {
  return {.plan = summarise(samples.plan),
          .upload = summarise(samples.upload),
          .apply = summarise(samples.apply),
          .plan_total = summarise_total(samples.plan),
          .upload_total = summarise_total(samples.upload),
          .apply_total = summarise_total(samples.apply),
          .few_samples = samples.apply.size() < 5};
}

// The same computation once more.
ComputeRequest request_of(const Computation& computation, std::uint64_t seed) {
  return {.variant = computation.variant, .values = computation.values, .seed = seed};
}

// The rise of the program's memory while this is planned, uploaded and applied once more.
std::optional<ResidentUse> measure_memory(const Computation& computation, std::uint64_t seed,
                                          const Backend& backend, Run& run) {
  const Problem& problem = computation.op->problem();
  return resident_use_of([&] {
    apply_once(*plan_and_bind(problem, request_of(computation, seed), backend, run).op, run.profile,
               run);
  });
}

// One plan and upload, then runs of apply after a warm-up, and the machine's pace.
TimingSamples take_samples(const Computation& computation, std::uint64_t seed,
                           const Backend& backend, Run& run) {
  const Problem& problem = computation.op->problem();
  const BoundPlan bound = plan_and_bind(problem, request_of(computation, seed), backend, run);
  TimingSamples samples{.plan = {bound.plan}, .upload = {bound.upload}};
  const auto first = std::chrono::steady_clock::now();
  apply_once(*bound.op, run.profile, run);
  do {
    Profile profile;
    apply_once(*bound.op, profile, run);
    samples.apply.push_back(std::move(profile));
  } while (elapsed_ms(first) < step_ms && samples.apply.size() < 16);
  samples.pace_ms = {pace_ms(prefix_of(problem, std::min(problem.n(), pace_length)), backend, run)};
  return samples;
}

}  // namespace

void TimingSamples::append(const TimingSamples& more) {
  const auto join = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  join(plan, more.plan);
  join(upload, more.upload);
  join(apply, more.apply);
  join(pace_ms, more.pace_ms);
  if (more.memory) memory = more.memory;
}

void Timings::annotate(ColumnState& state) const {
  state.timing.reset();
  state.throttled = false;
  state.memory.reset();
  const auto runs = std::ranges::find(runs_, state.key, &Runs::key);
  if (!state.computation || runs == runs_.end() || runs->samples.apply.empty()) return;
  state.timing = summarised(runs->samples);
  state.throttled = throttled(*runs);
  state.memory = runs->samples.memory;
}

// By the rule of the sweep. The reported times are medians, so the median of the paces counts: a
// machine that other programs used for a moment was not slow.
bool Timings::throttled(const Runs& runs) const {
  std::vector<double> paces = runs.samples.pace_ms;
  if (paces.empty()) return false;
  double best = std::numeric_limits<double>::infinity();
  for (const Runs& other : runs_)
    if (other.key.head == runs.key.head)
      for (const double pace : other.samples.pace_ms) best = std::min(best, pace);
  const auto middle = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
  std::ranges::nth_element(paces, middle);
  return slow_pace(*middle, best);
}

void Timings::measure_next(const std::vector<ColumnState>& columns, std::function<void()> done) {
  if (requests_.is_pending({RequestKind::timing})) return;
  const Runs* fewest = nullptr;
  std::shared_ptr<const Computation> computation;
  for (const ColumnState& state : columns) {
    if (!state.computation || state.stale || !state.computation->applied()) continue;
    if (!affords_repeats(state.computation->timing)) continue;
    auto it = std::ranges::find(runs_, state.key, &Runs::key);
    if (it == runs_.end()) it = runs_.insert(runs_.end(), {.key = state.key});
    if (it->failed || !wants_more(it->samples)) continue;
    if (fewest && fewest->samples.apply.size() <= it->samples.apply.size()) continue;
    fewest = &*it;
    computation = state.computation;
  }
  if (!fewest) return;
  const auto samples = std::make_shared<TimingSamples>();
  requests_.start(
      {RequestKind::timing}, fewest->key,
      [samples, computation, seed = fewest->key.column.seed, first = fewest->samples.apply.empty()](
          const Backend& backend, Run& run) {
        std::optional<ResidentUse> memory;
        if (first && backend.id() == "cpu")  // a device's own memory is not this program's
          memory = measure_memory(*computation, seed, backend, run);
        *samples = take_samples(*computation, seed, backend, run);
        samples->memory = memory;
        return false;
      },
      // It was computed once: without memory for a second run there is no timing.
      [this, samples, key = fewest->key, done = std::move(done)](const std::string& error) {
        add(key, *samples, !error.empty());
        done();
      });
}

void Timings::add(const ComputeKey& key, const TimingSamples& samples, bool failed) {
  const auto it = std::ranges::find(runs_, key, &Runs::key);
  if (it == runs_.end()) return;
  it->failed = failed;
  it->samples.append(samples);
  if (runs_.size() > 64) runs_.pop_front();
}

}  // namespace fovea
