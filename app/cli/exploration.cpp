#include "cli/exploration.h"

#include <algorithm>
#include <chrono>

#include "cli/report.h"
#include "data/error.h"
#include "data/number_text.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double told_every = 5;  // seconds

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<ExploredHead> heads_of(const HeadOptions& options, const Source& source) {
  std::vector<ExploredHead> heads;
  for (const Index layer : options.layers_in(source)) {
    const Layer& of = source.layers[static_cast<std::size_t>(layer)];
    if (!of.has_qk() && options.layer == "all") continue;
    for (const Index head : options.heads_of(source, layer))
      heads.push_back(
          {.layer = layer, .head = head, .lengths = of.lengths(), .d = of.d(), .dv = of.dv()});
  }
  return heads;
}

}  // namespace

void ExplorationOptions::add_to(CLI::App& command, const std::string& standard_layer) {
  source.add_to(command);
  command
      .add_option("--variant", variants,
                  "A variant to try, or papers, baselines, all; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID")
      ->capture_default_str();
  command
      .add_option("--settings", explore.most_settings,
                  "At most so many settings of each variant: its default, then from coarse to fine")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_seed(command, explore.seed);
  heads.add_all_to(command, standard_layer);
  backend.add_to(command);
}

std::string Exploration::time_text() const {
  return plural(static_cast<Index>(trials.size()), "trial") + " in " +
         format_time(1e3 * all_seconds) + ", the first after " + format_time(1e3 * first_seconds);
}

Exploration explore(const ExplorationOptions& options, const Console& console) {
  const std::vector<const Variant*> variants = variants_named(options.variants);
  refuse_imported(variants);
  Exploration out{.source = options.source.load(console.stop), .seed = options.explore.seed};
  out.heads = heads_of(options.heads, out.source);
  if (options.of_outputs && lack_values(out.heads))
    throw InputError(out.source.path,
                     std::string(no_values) +
                         ", so output errors are not known; expected an error of the weights, as "
                         "in fovea pareto --y attention_tv");
  const auto backend = options.backend.make(console.err);
  out.backend = backend->id();
  out.device = backend->device();
  out.precision = backend->precision();
  const auto open = [&](const ExploredHead& head, const std::stop_token& stop) {
    return options.heads.problem(out.source, head.layer, head.head, stop);
  };
  const auto start = Clock::now();
  Explorer explorer(out.heads, open, variants, options.explore);
  Profile profile;
  Run run{profile, console.stop};
  double told = 0;
  while (explorer.step(*backend, run)) {
    const double now = out.all_seconds = seconds_since(start);
    if (explorer.trials().size() == 1) out.first_seconds = now;
    if (now - told < told_every || explorer.left() == 0) continue;
    told = now;
    console.err << explorer.trials().size() << " of "
                << plural(static_cast<Index>(explorer.total()), "trial") << '\n';
  }
  out.trials = explorer.trials();
  const auto refused = [](const Trial& trial) { return !trial.refused.empty(); };
  if (!out.trials.empty() && std::ranges::all_of(out.trials, refused)) {
    open(out.heads.front(), console.stop);  // what is wrong with the source
    throw UnavailableError(out.trials.front().refused);
  }
  return out;
}

Document begin_json(const Exploration& exploration) {
  return {{"source", exploration.source.path},
          {"backend", exploration.backend},
          {"device", exploration.device},
          {"precision", exploration.precision},
          {"seed", exploration.seed},
          {"seconds", {{"first", exploration.first_seconds}, {"all", exploration.all_seconds}}},
          {"notes", notes_of(exploration.source)}};
}

}  // namespace fovea
