// Repeated runs of a Study's computations, a few at a time, while nothing else is to be done.
#include <algorithm>
#include <limits>

#include "session/pace.h"
#include "study/study_ask.h"

namespace fovea {
namespace {

constexpr double timing_ms = 2e3;  // of repeats, for one column

// One run more with its warm-up; a run that fills the budget alone stays the only one, marked so.
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

}  // namespace

void Study::tell_timing(const ComputeKey& key, ColumnState& state) const {
  state.timing.reset();
  state.throttled = false;
  state.memory.reset();
  const auto timed = std::ranges::find(timings_, key, &TimedRuns::key);
  if (!state.computation || timed == timings_.end() || timed->samples.apply.empty()) return;
  state.timing = summarised(timed->samples);
  state.throttled = throttled(*timed);
  state.memory = timed->samples.memory;
}

// By the sweep's rule. What is told are medians, so the median of the paces counts: a machine that
// others used for a moment was not slow.
bool Study::throttled(const TimedRuns& runs) const {
  if (runs.paces.empty()) return false;
  double best = std::numeric_limits<double>::infinity();
  for (const TimedRuns& other : timings_)
    if (other.key.head == runs.key.head)
      for (const double pace : other.paces) best = std::min(best, pace);
  std::vector<double> paces = runs.paces;
  const auto middle = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
  std::ranges::nth_element(paces, middle);
  return slow_pace(*middle, best);
}

void Study::next_timing() {
  if (paused_ || timing_runs_ || !settled() || engine_->status().waiting > 0) return;
  const TimedRuns* least = nullptr;
  int column = -1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].computation || columns_[i].stale) continue;
    if (!columns_[i].computation->applied()) continue;
    if (!affords_repeats(columns_[i].computation->timing)) continue;
    const ComputeKey& key = column_keys_[i];
    auto it = std::ranges::find(timings_, key, &TimedRuns::key);
    if (it == timings_.end()) it = timings_.insert(timings_.end(), {.key = key});
    if (it->failed || !wants_more(it->samples)) continue;
    if (least && least->samples.apply.size() <= it->samples.apply.size()) continue;
    least = &*it;
    column = static_cast<int>(i);
  }
  if (column < 0) return;
  timing_runs_ = true;
  const ComputeKey key = column_keys_[static_cast<std::size_t>(column)];
  const auto computation = columns_[static_cast<std::size_t>(column)].computation;
  engine_->submit(
      "timing", priority::timing,
      [this, key, computation, first = least->samples.apply.empty()](
          const Backend& backend, std::stop_token stop, Progress& progress) {
        Profile profile;
        Run run{profile, stop, &progress};
        TimingSamples samples;
        // It was computed once: without memory for a second one there is no timing.
        const std::string error = error_of([&] {
          const std::uint64_t seed = key.column.seed;
          std::optional<ResidentUse> memory;
          if (first && backend.id() == "cpu")  // a device's own memory is not this program's
            memory = measure_memory(*computation, seed, backend, run);
          samples = take_timing(*computation, seed, backend, 40, true, run);
          samples.memory = memory;
        });
        const auto arrive = [this, key, samples = std::move(samples), failed = !error.empty()] {
          add_timing(key, samples, failed);
        };
        QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
      });
}

bool Study::at_rest() const {
  const auto of_another_part = [&](const auto& asked) {
    const auto shown = map_panels_.find(asked.first);
    return shown == map_panels_.end() || !(shown->second.key == asked.second);
  };
  return drawn() && std::ranges::none_of(asked_pictures_, of_another_part);
}

void Study::submit_sweep(Engine::Job job) {
  engine_->submit(sweep_tag, priority::sweep, std::move(job));
}

void Study::stop_sweep() {
  engine_->cancel(sweep_tag);
}

void Study::add_timing(const ComputeKey& key, const TimingSamples& samples, bool failed) {
  timing_runs_ = false;
  const auto it = std::ranges::find(timings_, key, &TimedRuns::key);
  if (it == timings_.end()) return;
  it->failed = failed;
  const auto append = [](std::vector<Profile>& to, const std::vector<Profile>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(it->samples.plan, samples.plan);
  append(it->samples.upload, samples.upload);
  append(it->samples.apply, samples.apply);
  if (!failed) it->paces.push_back(samples.pace_ms);
  if (samples.memory) it->samples.memory = samples.memory;
  if (timings_.size() > 64) timings_.pop_front();
  update_later();
}

}  // namespace fovea
