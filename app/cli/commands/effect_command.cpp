// fovea effect: what another attention in some heads does to a model's own output.
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/options/effect_options.h"
#include "cli/reports/effect_report.h"
#include "data/error.h"
#include "data/number_text.h"
#include "effect/effect_figure.h"
#include "effect/effect_json.h"
#include "input/painting.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

std::string counted(std::size_t done, std::size_t all, const char* noun) {
  return std::to_string(done) + " of " + plural(all, noun);
}

/// Shows on a terminal how far a measurement is.
class MeasuringLine {
 public:
  explicit MeasuringLine(const Console& console)
      : out_(console.err), shown_(::isatty(STDERR_FILENO) != 0) {}
  ~MeasuringLine() {
    if (shown_) out_ << "\r\x1b[K" << std::flush;
  }
  void say(const std::string& text) {
    if (shown_) out_ << "\r\x1b[K" << text << std::flush;
  }

 private:
  std::ostream& out_;
  bool shown_;
};

HeadEffects measured_alone(EffectMeter& meter, const std::vector<ReplacedPart>& candidates,
                           const EffectOptions& options, Run& run, MeasuringLine& progress) {
  HeadEffects effects(candidates, ChosenHeads(options.heads, meter.layers(), meter.heads()),
                      options.unit_kind());
  while (!effects.complete()) {
    progress.say(counted(effects.found().size(), effects.count(), "single replacement"));
    effects.step(meter, run);
  }
  return effects;
}

void search_policy(EffectMeter& meter, const std::vector<ReplacedPart>& candidates,
                   const EffectOptions& options, Run& run, MeasuringLine& progress,
                   EffectOutcome& out) {
  out.search.emplace(measured_alone(meter, candidates, options, run, progress), options.budget);
  while (!out.search->complete()) {
    progress.say(out.search->doing());
    out.search->step(meter, run);
  }
  const MeasuredPolicy* best = out.search->best();
  if (!best)
    throw UsageError(std::string("no policy of these variants stays within ") +
                     (options.budget.cost ? "--cost " + format_plain(*options.budget.cost)
                                          : "--loss " + format_plain(*options.budget.change)) +
                     "; expected a larger budget or other variants");
  out.parts = best->parts;
  out.effect = best->effect;
}

EffectOutcome measured(EffectMeter& meter, const EffectOptions& options, const Console& console) {
  MeasuringLine progress(console);
  Profile profile;
  Run run{profile, console.stop};
  EffectOutcome out;
  if (!options.policy.empty())
    out.parts = read_policy(options.policy, meter.layers(), meter.heads());
  const std::vector<ReplacedPart> candidates = options.candidates();
  if (options.searches()) {
    search_policy(meter, candidates, options, run, progress, out);
  } else {
    if (out.parts.empty()) out.parts = {candidates.front()};
    progress.say("measuring");
    out.effect = meter.measure(out.parts, run);
  }
  const Rounds rounds = options.rounds_over(meter.inputs());
  while (rounds.wants_more(out.effect.times)) {
    progress.say("timing, round " + std::to_string(out.effect.times.rounds() + 1));
    meter.time(out.parts, run, out.effect.times);
  }
  if (options.sensitivity) out.alone = measured_alone(meter, candidates, options, run, progress);
  if (options.curve) {
    out.curve.emplace(candidates.front(), meter.layers());
    while (!out.curve->complete()) {
      progress.say(counted(out.curve->found().size(), out.curve->count(), "number") +
                   " of replaced layers");
      out.curve->step(meter, run);
    }
  }
  return out;
}

void write(const EffectOptions& options, const EffectOutcome& outcome, const EffectMeter& meter,
           const std::string& source) {
  for (const std::string& output : options.outputs) {
    if (is_policy_file(output)) {
      const Document policy = policy_json({outcome.parts, outcome.effect}, meter.layers(),
                                          meter.heads(), options.budget, source);
      write_atomically(output, text_of(policy, 1) + "\n");
      continue;
    }
    const Painting painting;
    write_figure(
        output,
        effect_figure({.effect = outcome.effect,
                       .parts = outcome.parts,
                       .layers = meter.layers(),
                       .heads = meter.heads(),
                       .curve = outcome.curve ? &outcome.curve->found() : nullptr,
                       .curve_title = outcome.curve ? outcome.curve->part().variant->label : "",
                       .search = outcome.search ? &*outcome.search : nullptr,
                       .alone = outcome.alone ? &*outcome.alone : nullptr}));
  }
}

void run_effect(const EffectOptions& options, const Console& console) {
  const std::string source = options.source.address();
  options.check(source);
  options.candidates();  // throws before a model runs
  const auto backend = options.backend.make(console.err);
  OpenOptions open = options.source.open;
  open.stop = console.stop;
  open.backend = backend.get();
  const auto meter = effect_meter(source, open);
  const EffectOutcome outcome = measured(*meter, options, console);
  write(options, outcome, *meter, source);
  if (options.json)
    print(console.out, outcome_json(outcome, source));
  else
    print_outcome(console.out, outcome);
}

}  // namespace

void add_effect_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "effect",
      "What a variant in the place of a model's attention does to the model's own output: "
      "perplexity, next tokens, hidden states");
  auto options = std::make_shared<EffectOptions>();
  options->add_to(*command);
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_effect(*options, console); };
  });
}

}  // namespace fovea
