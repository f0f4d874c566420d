#include "sweep/explorer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include "data/error.h"
#include "data/number_text.h"
#include "session/settings.h"

namespace fovea {
namespace {

// Q, K, V and Z, and what the back end makes of Q, K and V for itself, counted as much again.
double bytes_of(const ExploredHead& head) {
  return 2.0 * static_cast<double>(sizeof(float)) *
         static_cast<double>(head.lengths.queries + head.lengths.keys) *
         static_cast<double>(head.d + head.dv);
}

/// Adds the time of its life, also where an exception ends it.
class AddedTime {
 public:
  explicit AddedTime(double& seconds) : seconds_(seconds) {}
  ~AddedTime() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  const Clock::time_point start_ = Clock::now();
};

/// What the evaluation says; the rest stays.
void put(Trial& trial, const Evaluation& evaluation) {
  for (std::size_t m = 0; m < measures().size(); ++m)
    if (auto measured = measures()[m].of(evaluation)) trial.measured[m] = std::move(measured);
}

}  // namespace

std::string to_text(const std::vector<ExploredHead>& heads, const Source& source) {
  const ExploredHead& first = heads.front();
  const bool one_layer = std::ranges::all_of(
      heads, [&](const ExploredHead& head) { return head.layer == first.layer; });
  const bool one_size = std::ranges::all_of(heads, [&](const ExploredHead& head) {
    return head.lengths == first.lengths && head.d == first.d;
  });
  const auto count = static_cast<Index>(heads.size());
  return (one_layer ? layer_label(source, first.layer) : "all layers") + ", " +
         (count == 1 ? "head " + std::to_string(first.head) : plural(count, "head")) +
         (one_size ? ", " + first.lengths.text() + ", d = " + std::to_string(first.d) : "");
}

bool lack_values(const std::vector<ExploredHead>& heads) {
  const auto lacks = [](const ExploredHead& head) { return head.d > 0 && head.dv == 0; };
  return !heads.empty() && std::ranges::all_of(heads, lacks);
}

Explorer::Explorer(std::vector<ExploredHead> heads, OpenHead open,
                   std::vector<const Variant*> variants, ExploreOptions options)
    : heads_(std::move(heads)), open_(std::move(open)), options_(options) {
  variants_.push_back(&reference_variant());
  for (const Variant* variant : variants)
    if (std::ranges::find(variants_, variant) == variants_.end()) variants_.push_back(variant);
  double bytes = 0;
  std::map<Index, std::vector<std::vector<Values>>> settings;  // by length and variant
  std::size_t rounds = 0;
  for (const ExploredHead& head : heads_) {
    bytes += bytes_of(head);
    auto& of_length = settings[head.lengths.keys];
    if (!of_length.empty()) continue;
    for (const Variant* variant : variants_) {
      of_length.push_back(
          settings_worth_trying(*variant, head.lengths.keys, options_.most_settings));
      rounds = std::max(rounds, of_length.back().size());
    }
  }
  head_by_head_ = bytes > options_.most_bytes;
  if (head_by_head_)
    for (std::size_t h = 0; h < heads_.size(); ++h)
      for (std::size_t round = 0; round < rounds; ++round) add_round(h, round, settings);
  else
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t h = 0; h < heads_.size(); ++h) add_round(h, round, settings);
}

void Explorer::add_round(std::size_t head, std::size_t round,
                         const std::map<Index, std::vector<std::vector<Values>>>& settings) {
  const auto& of_length = settings.at(heads_[head].lengths.keys);
  for (std::size_t v = 0; v < variants_.size(); ++v)
    if (round < of_length[v].size())
      tasks_.push_back({.head = head, .variant = variants_[v], .values = of_length[v][round]});
}

bool Explorer::step(const Backend& backend, Run& run) {
  if (left() == 0) return false;
  const AddedTime time(spent_seconds_);
  run.check();
  const Task& task = tasks_[trials_.size()];
  const ExploredHead& head = heads_[task.head];
  Trial trial{.variant = task.variant,
              .values = task.values,
              .layer = head.layer,
              .head = head.head,
              .n = head.lengths.keys};
  try {
    const Reference& exact = reference(task.head, backend, run);
    trial.scale = exact.problem.scale;
    trial.causal = exact.problem.causal;
    measure(trial, exact, task, backend, run);
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const Error& error) {
    trial.refused = error.what();
  } catch (const std::bad_alloc&) {
    trial.refused = "not enough memory";
  }
  if (!trial.refused.empty()) {
    trial.time.reset();
    trial.measured.clear();
  }
  trials_.push_back(std::move(trial));
  return true;
}

const Explorer::Reference& Explorer::reference(std::size_t head, const Backend& backend, Run& run) {
  if (const auto found = known_.find(head); found != known_.end()) return found->second;
  if (head_by_head_) known_.clear();
  Reference made{.problem = open_(heads_[head], run.stop), .exact = {}};
  made.exact = compute(made.problem, {.variant = &reference_variant()}, backend, run);
  return known_.emplace(head, std::move(made)).first->second;
}

void Explorer::measure(Trial& trial, const Reference& reference, const Task& task,
                       const Backend& backend, Run& run) {
  const ComputeRequest request{
      .variant = task.variant, .values = task.values, .seed = options_.seed};
  const Computation& exact = reference.exact;
  const Computation made =
      task.variant->reference ? exact : compute(reference.problem, request, backend, run);
  const Metrics metrics = compare(*made.op, made.output, *exact.op, exact.output, run);
  if (options_.timed) measure_time(trial, task.head, reference.problem, request, backend, run);
  trial.cost = made.cost;
  trial.notes = made.op->plan().notes;
  trial.measured.resize(measures().size());
  put(trial,
      {.cost = &made.cost, .metrics = &metrics, .time = trial.time ? &*trial.time : nullptr});
}

void Explorer::measure_time(Trial& trial, std::size_t head, const Problem& problem,
                            const ComputeRequest& request, const Backend& backend, Run& run) {
  TimedRuns runs = measure_rounds(
      problem, request, {.beside_exact = !request.variant->reference, .time = options_.round_time},
      backend, run);
  double& best =
      best_pace_ms_.try_emplace(runs.paced, std::numeric_limits<double>::infinity()).first->second;
  const bool faster = runs.best_pace_ms() < best;
  best = std::min(best, runs.best_pace_ms());
  trial.time = summarise(runs, best);
  beside_others_[head].append(exact_runs(runs));
  if (faster) {  // earlier trials of this pace, on all heads, may turn out to have been slow
    for (const auto& [place, earlier] : runs_) {
      if (earlier.paced != runs.paced || !trials_[place].time) continue;
      if (trials_[place].variant->reference) continue;
      trials_[place].time = summarise(earlier, best);
      put(trials_[place], {.time = &*trials_[place].time});
    }
    for (const auto& [its_head, place] : exact_trials_)
      if (runs_.at(place).paced == runs.paced) summarise_exact(its_head, best);
  } else {
    summarise_exact(head, best);
  }
  // Last: everything above is about trials that are done, and this one is not yet among them.
  runs_[trials_.size()] = std::move(runs);
  if (request.variant->reference) exact_trials_[head] = trials_.size();
}

// Exact attention is timed beside the other trials, as for their speed-ups: by itself it would be
// faster. Only its quiet rounds count, also where another trial has too few of them.
void Explorer::summarise_exact(std::size_t head, double best_pace_ms) {
  const auto found = exact_trials_.find(head);
  if (found == exact_trials_.end()) return;
  const std::size_t place = found->second;
  Trial& exact = trials_[place];
  if (!exact.time) return;
  const TimedRuns& beside = beside_others_[head];
  exact.time = summarise(beside.rounds.empty() ? runs_.at(place) : beside, best_pace_ms);
  put(exact, {.time = &*exact.time});
}

}  // namespace fovea
