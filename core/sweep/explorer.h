// An Explorer tries the settings of variants that are worth trying on heads, one Trial at a time:
// it can be stopped after any step and goes on where it was.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "data/source.h"
#include "evaluate/evaluate.h"
#include "sweep/pareto.h"

namespace fovea {

/// One head of a source, by its place and its size: it is opened when its turn comes.
struct ExploredHead {
  Index layer = 0, head = 0;
  Lengths lengths = {};
  Index d = 0, dv = 0;
};
/// "layer0, 12 heads, n = 197, d = 32"; of at least one head.
std::string to_text(const std::vector<ExploredHead>& heads, const Source& source);
/// Whether they have queries and keys, but none has values: then output errors are not known.
bool lack_values(const std::vector<ExploredHead>& heads);
using OpenHead = std::function<Problem(const ExploredHead&, const std::stop_token&)>;

/// A setting that is tried beside those worth trying, such as a column of the canvas.
struct OwnSetting {
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  Structure given = {};  // a learned tree
  Index n = 0;           // only on heads with n keys; 0 means any number
  /// The only layer and head on which it is tried, such as those of a learned tree; without a value
  /// it is tried on all heads.
  std::optional<std::pair<Index, Index>> only = {};
};

/// Steps that learn a tree well enough to be compared, in a second or so for a short head.
inline constexpr Index standard_learned_steps = 100;
/// Seeds of settings with random choices: as few as an interval takes.
inline constexpr std::size_t standard_seeds = enough_samples;
/// The budget until another one is chosen: a share of exact attention's cost.
inline constexpr double standard_cost = 0.25;

struct ExploreOptions {
  std::uint64_t seed = 0;
  std::size_t most_settings = 40;  // of each variant on each head
  std::size_t seeds = 1;           // of settings with random choices, on one head
  Index learned_steps = 0;         // also tries trees learned in this many steps; 0 if none
  std::vector<OwnSetting> own = {};
  bool timed = false;  // rounds beside exact, `round_time` each
  std::chrono::milliseconds round_time{40};
  double most_bytes = 512.0 * 1024 * 1024;  // of heads that are held at the same time
};

class Explorer {
 public:
  /// Exact attention is tried first on each head, once, whether it is among the variants or not.
  Explorer(std::vector<ExploredHead> heads, OpenHead open, std::vector<const Variant*> variants,
           ExploreOptions options = {});

  /// Does one trial and returns true; false if nothing is left to do. All heads come first with
  /// exact attention, the options' own settings and the first setting of every variant, then with
  /// the second setting, and so on, from coarse to fine; then trees that have to be learned. Last
  /// come other seeds, if there is one head, for settings that may make random choices. A
  /// setting for which two seeds make no difference is tried with no third one.
  /// If the heads together take more memory than the options allow, one head follows the other. A
  /// refused trial keeps the reason, and so do all trials of a head that cannot be opened. Throws
  /// Cancelled and DeviceLostError, and then leaves the trials as they were.
  bool step(const Backend& backend, Run& run);

  /// The trials that were done, in the order in which they were done.
  const std::vector<Trial>& trials() const { return trials_; }
  /// The length of the longest beginning of trials() in which every setting was tried on the same
  /// heads, without regard to own settings of single heads.
  std::size_t comparable() const;
  /// Spent in step(), on cancelled trials too.
  double seconds_spent() const { return spent_seconds_; }
  std::size_t left() const { return tasks_.size() - trials_.size(); }
  std::size_t total() const { return tasks_.size(); }
  bool head_by_head() const { return head_by_head_; }
  const std::vector<ExploredHead>& heads() const { return heads_; }

 private:
  /// What is tried on a head: a request, and whether it is one of the options' own.
  struct Setting {
    ComputeRequest request;
    bool own = false;
  };
  struct Task {
    std::size_t head = 0;
    Setting setting;
    std::optional<std::size_t> repeats = {};  // the trial of which it is the same with another seed
  };
  void add_seeds();
  void drop_seeds(std::size_t repeated);
  std::vector<std::vector<Setting>> rounds_of(const ExploredHead& head) const;
  const Reference& reference(std::size_t head, const Backend& backend, Run& run);
  void measure(Trial& trial, const Reference& reference, const Task& task, const Backend& backend,
               Run& run);
  void put_time(Trial& trial, std::size_t head, TimedRuns runs);
  void summarise_exact(std::size_t head, double best_pace_ms);

  std::vector<ExploredHead> heads_;
  OpenHead open_;
  std::vector<const Variant*> variants_;  // exact first
  ExploreOptions options_;
  bool head_by_head_ = false;
  std::vector<Task> tasks_;
  std::vector<std::size_t> comparable_;  // numbers of trials, ascending
  std::vector<Trial> trials_;
  double spent_seconds_ = 0;
  std::map<std::size_t, TimedRuns> runs_;            // by trial
  std::map<std::size_t, std::size_t> exact_trials_;  // by head
  std::map<std::size_t, TimedRuns> beside_others_;   // exact attention, by head
  /// Best pace of the machine over all trials, by number of paced tokens.
  std::map<Index, double> best_pace_ms_;
  std::map<std::size_t, Reference> known_;  // by head
};

}  // namespace fovea
