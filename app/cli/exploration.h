// An Exploration is the work that `fovea pareto` and `fovea heads` share: trying the settings of
// variants that are worth it on all requested heads.
#pragma once

#include <chrono>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "report/json_output.h"
#include "sweep/explorer.h"

namespace fovea {

struct ExplorationOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  std::vector<std::string> variants{"all"};
  ExploreOptions explore{.learned_steps = standard_learned_steps};
  const CLI::Option* learn = nullptr;  // whether it was given
  bool of_outputs = false;             // the command needs values
  bool in_model = false;  // settings replace attention in the opened model (model_trials.h)

  /// `standard_layer`: the default of --layer.
  void add_to(CLI::App& command, const std::string& standard_layer);
};

struct Exploration {
  Source source;
  std::vector<ExploredHead> heads;
  std::vector<Trial> trials;
  std::uint64_t seed = 0;
  std::string backend, device, precision;
  double first_seconds = 0, all_seconds = 0;  // until the first trial was done, and all were
  std::vector<std::string> not_tried;         // variants and options that were left out

  /// "504 trials in 3.2 s, the first after 21 ms".
  std::string time_text() const;
};

/// Tries everything, and reports the progress of a long run on the console. Throws InputError if no
/// head has the values that are needed.
Exploration explore(const ExplorationOptions& options, const Console& console);

/// The source with the chosen heads, and what is not tried of all variants; nothing is tried yet.
Exploration opened_source(const ExplorationOptions& options,
                          const std::vector<const Variant*>& variants, const Console& console);

/// Reports the progress of long work on the console, every few seconds.
class CountProgress {
 public:
  /// `noun` is what is counted: "trial".
  CountProgress(const Console& console, std::string noun)
      : console_(console), noun_(std::move(noun)) {}
  /// To be called when `count` of `all` are done. Returns the seconds since the beginning.
  double done(std::size_t count, std::size_t all, const char* of = " of ");

 private:
  const Console& console_;
  std::string noun_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double told_ = 0;
};

/// Reports the progress of trials, and keeps the times of their exploration.
class TrialProgress {
 public:
  /// Other seeds are left out where they make no difference: then there may be fewer trials.
  TrialProgress(Exploration& exploration, const Console& console, bool at_most = false)
      : exploration_(exploration), progress_(console, "trial"), at_most_(at_most) {}
  void done(std::size_t trials, std::size_t all);

 private:
  Exploration& exploration_;
  CountProgress progress_;
  bool at_most_;
};

/// The beginning of every document: source, back end, device, precision, seed, seconds, what was
/// not tried, notes.
Document begin_json(const Exploration& exploration);

/// A note for each variant that was refused and each reason, and for what was not tried.
std::vector<std::string> notes_of(const Exploration& exploration);
/// What qualifies numbers from the layers that were explored.
std::vector<std::string> notes_of_source(const Exploration& exploration);

}  // namespace fovea
