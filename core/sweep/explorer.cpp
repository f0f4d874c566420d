#include "sweep/explorer.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "data/error.h"
#include "data/number_text.h"
#include "session/settings.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

// Bytes of Q, K, V and Z, and as many again for what the back end makes of Q, K and V for itself.
double bytes_of(const ExploredHead& head) {
  return 2.0 * static_cast<double>(sizeof(float)) *
         static_cast<double>(head.lengths.queries + head.lengths.keys) *
         static_cast<double>(head.d + head.dv);
}

/// Adds the time of its life, even if an exception ends it.
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

bool same(const ComputeRequest& a, const ComputeRequest& b) {
  return a.variant == b.variant && a.values == b.values &&
         (a.variant->reference || a.seed == b.seed);
}

/// Puts the results of the evaluation into the trial and leaves the rest.
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
  std::vector<std::vector<std::vector<Setting>>> rounds;  // of each head
  std::size_t most_rounds = 0;
  for (const ExploredHead& head : heads_) {
    bytes += bytes_of(head);
    rounds.push_back(rounds_of(head));
    most_rounds = std::max(most_rounds, rounds.back().size());
  }
  const auto add = [&](std::size_t h, std::size_t round) {
    if (round >= rounds[h].size()) return;
    for (Setting& setting : rounds[h][round]) {
      tasks_.push_back({h, std::move(setting)});
      if (heads_.size() == 1) comparable_.push_back(tasks_.size());
    }
  };
  head_by_head_ = bytes > options_.most_bytes;
  if (head_by_head_)
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      for (std::size_t round = 0; round < most_rounds; ++round) add(h, round);
      comparable_.push_back(tasks_.size());
    }
  else
    for (std::size_t round = 0; round < most_rounds; ++round) {
      for (std::size_t h = 0; h < heads_.size(); ++h) {
        add(h, round);
        if (round == 0) comparable_.push_back(tasks_.size());
      }
      comparable_.push_back(tasks_.size());
    }
  if (heads_.size() == 1) add_seeds();
}

void Explorer::add_seeds() {
  const std::size_t first_seeds = tasks_.size();
  for (std::size_t more = 1; more < options_.seeds; ++more)
    for (std::size_t t = 0; t < first_seeds; ++t) {
      Task task = tasks_[t];
      ComputeRequest& request = task.setting.request;
      const bool may_differ = !request.variant->structure.empty();
      if (!may_differ || learned_steps(*request.variant, request.values)) continue;
      request.seed += more;
      task.repeats = t;
      tasks_.push_back(std::move(task));
      comparable_.push_back(tasks_.size());
    }
}

// Called once the last trial is one of another seed.
void Explorer::drop_seeds(std::size_t repeated) {
  const Trial &before = trials_[repeated], &now = trials_.back();
  const auto differs = [&](const Measure& measure) {
    const Quantity& quantity = quantity_named(measure.id);
    return !quantity.is_timed() && quantity.of(before) != quantity.of(now);
  };
  if (std::ranges::any_of(measures(), differs)) return;
  const auto rest = tasks_.begin() + static_cast<std::ptrdiff_t>(trials_.size());
  tasks_.erase(std::remove_if(rest, tasks_.end(),
                              [&](const Task& task) { return task.repeats == repeated; }),
               tasks_.end());
}

// A setting that is also one of the options' own settings is tried once, as an own setting.
std::vector<std::vector<Explorer::Setting>> Explorer::rounds_of(const ExploredHead& head) const {
  std::vector<ComputeRequest> known;
  std::vector<std::vector<Setting>> rounds(1);
  const auto add = [&](std::size_t round, ComputeRequest request, bool own) {
    if (std::ranges::any_of(known, [&](const ComputeRequest& r) { return same(r, request); }))
      return;
    known.push_back(request);
    if (round >= rounds.size()) rounds.resize(round + 1);
    rounds[round].push_back({std::move(request), own});
  };
  add(0, {.variant = variants_.front(), .seed = options_.seed}, false);
  for (const OwnSetting& own : options_.own)
    if (!own.variant->reference && (own.n == 0 || own.n == head.lengths.keys) &&
        (!own.only || *own.only == std::pair(head.layer, head.head)))
      add(0, {own.variant, own.values, own.seed, own.given}, true);
  std::vector<ComputeRequest> learned;
  for (const Variant* variant : variants_) {
    auto settings = settings_worth_trying(*variant, head.lengths.keys, options_.most_settings);
    for (std::size_t round = 0; round < settings.size(); ++round) {
      add(round, {.variant = variant, .values = settings[round], .seed = options_.seed}, false);
      if (options_.learned_steps == 0 || variant->tree_attention == TreeAttention::none) continue;
      set_learned(*variant, settings[round], options_.learned_steps);
      learned.push_back({.variant = variant, .values = settings[round], .seed = options_.seed});
    }
  }
  // One setting in each round, the same on every head, even if one of them was tried as an own
  // setting.
  std::size_t round = rounds.size();
  for (ComputeRequest& request : learned) add(round++, std::move(request), false);
  return rounds;
}

std::size_t Explorer::comparable() const {
  const auto after = std::ranges::upper_bound(comparable_, trials_.size());
  return after == comparable_.begin() ? 0 : *std::prev(after);
}

bool Explorer::step(const Backend& backend, Run& run) {
  if (left() == 0) return false;
  const AddedTime time(spent_seconds_);
  run.check();
  const Task& task = tasks_[trials_.size()];
  const ExploredHead& head = heads_[task.head];
  const ComputeRequest& request = task.setting.request;
  Trial trial{.variant = request.variant,
              .values = request.values,
              .seed = request.seed,
              .repeats = {},
              .own = task.setting.own,
              .layer = head.layer,
              .head = head.head,
              .n = head.lengths.keys};
  const std::optional<std::size_t> repeats = task.repeats;
  if (repeats) trial.repeats = trials_[*repeats].seed;
  measure_or_refuse(trial, [&] {
    const Reference& exact = reference(task.head, backend, run);
    trial.scale = exact.problem.scale;
    trial.causal = exact.problem.is_causal();
    measure(trial, exact, task, backend, run);
  });
  trials_.push_back(std::move(trial));
  if (repeats) drop_seeds(*repeats);
  return true;
}

const Reference& Explorer::reference(std::size_t head, const Backend& backend, Run& run) {
  if (const auto found = known_.find(head); found != known_.end()) return found->second;
  if (head_by_head_) known_.clear();
  Problem problem = open_(heads_[head], run.stop);
  return known_.emplace(head, reference_of(std::move(problem), backend, run)).first->second;
}

void Explorer::measure(Trial& trial, const Reference& reference, const Task& task,
                       const Backend& backend, Run& run) {
  EvaluateOptions wanted{.metrics = true};
  if (options_.timed)
    wanted.times = {.rounds = RoundOptions{.time = options_.round_time},
                    .budget_ms = std::numeric_limits<double>::infinity()};
  Evaluated found = evaluate(reference, task.setting.request, wanted, backend, run);
  if (options_.timed) put_time(trial, task.head, std::move(found.rounds));
  trial.cost = found.computation->cost;
  trial.notes = found.computation->op->plan().notes;
  trial.measured.resize(measures().size());
  put(trial, numbers_of(found, trial.time));
}

void Explorer::put_time(Trial& trial, std::size_t head, TimedRuns runs) {
  double& best =
      best_pace_ms_.try_emplace(runs.paced, std::numeric_limits<double>::infinity()).first->second;
  const bool faster = runs.best_pace_ms() < best;
  best = std::min(best, runs.best_pace_ms());
  trial.time = summarise(runs, best);
  beside_others_[head].append(exact_runs(runs));
  if (faster) {  // earlier trials with this number of paced tokens, on all heads, may turn out to
                 // have been slow
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
  // Comes last: everything above is about trials that are done, and this one is not among them yet.
  runs_[trials_.size()] = std::move(runs);
  if (trial.variant->reference) exact_trials_[head] = trials_.size();
}

// Exact attention is timed beside the other trials, as for their speed-ups, since by itself it
// would be faster. Only its quiet rounds count, even if another trial has too few of them.
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
