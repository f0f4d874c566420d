#include "cli/exploration.h"

#include <algorithm>

#include "cli/options/variant_options.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/text.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

std::vector<ExploredHead> heads_of(const HeadOptions& options, const Source& source) {
  std::vector<ExploredHead> heads;
  for (const Index layer : options.layers_in(source)) {
    const Layer& of = source.layers[layer];
    if (!of.has_qk() && options.layer == "all") continue;
    for (const Index head : options.heads_of(source, layer))
      heads.push_back(
          {.layer = layer, .head = head, .lengths = of.lengths(), .d = of.d(), .dv = of.dv()});
  }
  return heads;
}

std::vector<std::string> not_tried(const ExplorationOptions& options,
                                   const std::vector<const Variant*>& tried) {
  std::vector<std::string> out;
  std::string others;
  for (const Variant& variant : variants())
    if (std::ranges::find(tried, &variant) == tried.end() && !variant.reference)
      add_item(others, variant.id);
  if (!others.empty()) out.push_back(others + " (--variant all tries them)");
  const bool trees = std::ranges::any_of(
      tried, [](const Variant* variant) { return variant->tree_attention != TreeAttention::none; });
  if (trees && options.explore.learned_steps == 0 && !options.in_model)
    out.emplace_back(
        "learned trees (--learn 100 tries them, which takes seconds for each head and setting)");
  return out;
}

}  // namespace

void ExplorationOptions::add_to(CLI::App& command, const std::string& standard_layer) {
  source.add_to(command);
  command
      .add_option("--variant", variants,
                  "A variant to try, or " + words_for_groups() + "; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID")
      ->capture_default_str();
  command
      .add_option("--settings", explore.most_settings,
                  "At most so many settings of each variant: its default, then from coarse to fine")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  learn = command
              .add_option("--learn", explore.learned_steps,
                          "Also try each setting of Treeformer with a tree that is learned for the "
                          "head in this many steps, which takes seconds each")
              ->type_name("STEPS")
              ->check(CLI::Range(Index{0}, most_learning_steps))
              ->capture_default_str();
  command
      .add_flag_callback(
          "--no-learn", [this] { explore.learned_steps = 0; }, "Learn no trees, which is faster")
      ->excludes(command.get_option("--learn"));
  add_seed(command, explore.seed);
  heads.add_all_to(command, standard_layer);
  backend.add_to(command);
}

std::string Exploration::time_text() const {
  return plural(trials.size(), "trial") + " in " + format_time(1e3 * all_seconds) +
         ", the first after " + format_time(1e3 * first_seconds);
}

Exploration opened_source(const ExplorationOptions& options,
                          const std::vector<const Variant*>& variants, const Console& console) {
  refuse_imported(variants);
  Exploration out{.source = options.source.load(console.stop, options.backend.threads),
                  .seed = options.explore.seed};
  options.heads.tell_layer(out.source, console.err);
  out.not_tried = not_tried(options, variants);
  out.heads = heads_of(options.heads, out.source);
  return out;
}

double CountProgress::done(std::size_t count, std::size_t all, const char* of) {
  constexpr double told_every = 5;  // seconds
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  if (passed.count() - told_ < told_every || count == all) return passed.count();
  told_ = passed.count();
  console_.err << count << of << plural(all, noun_) << '\n';
  return passed.count();
}

void TrialProgress::done(std::size_t trials, std::size_t all) {
  exploration_.all_seconds = progress_.done(trials, all, at_most_ ? " of at most " : " of ");
  if (trials == 1) exploration_.first_seconds = exploration_.all_seconds;
}

Exploration explore(const ExplorationOptions& options, const Console& console) {
  const std::vector<const Variant*> variants = variants_named(options.variants);
  Exploration out = opened_source(options, variants, console);
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
  TrialProgress progress(out, console, options.explore.seeds > 1);
  Explorer explorer(out.heads, open, variants, options.explore);
  Profile profile;
  Run run{profile, console.stop};
  while (explorer.step(*backend, run)) progress.done(explorer.trials().size(), explorer.total());
  out.trials = explorer.trials();
  const auto refused = [](const Trial& trial) { return !trial.refused.empty(); };
  if (!out.trials.empty() && std::ranges::all_of(out.trials, refused)) {
    open(out.heads.front(), console.stop);  // throws if the source is wrong
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
          {"not_tried", exploration.not_tried},
          {"notes", notes_of_source(exploration)}};
}

std::vector<std::string> notes_of_source(const Exploration& exploration) {
  return notes_of(exploration.source, layers_of(exploration.heads));
}

std::vector<std::string> notes_of(const Exploration& exploration) {
  struct Refused {
    std::string why;
    std::vector<std::string> variants;
    Index trials = 0;
  };
  std::vector<Refused> refused;
  for (const Trial& trial : exploration.trials) {
    if (trial.refused.empty()) continue;
    // A reason that begins with the name of the variant may be that of others, too.
    const std::string &label = trial.variant->label, &text = trial.refused;
    const std::string why = text.starts_with(label + " ") ? text.substr(label.size() + 1) : text;
    auto known = std::ranges::find(refused, why, &Refused::why);
    if (known == refused.end()) known = refused.insert(known, {why, {}, 0});
    if (std::ranges::find(known->variants, trial.variant->id) == known->variants.end())
      known->variants.push_back(trial.variant->id);
    ++known->trials;
  }
  std::vector<std::string> notes;
  for (const Refused& its : refused)
    notes.push_back("refused " + join(its.variants) + ": " + its.why + " (" +
                    plural(its.trials, "trial") + ")");
  for (const std::string& what : exploration.not_tried) notes.push_back("not tried: " + what);
  return notes;
}

}  // namespace fovea
