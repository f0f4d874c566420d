// fovea effect: what another attention in some heads does to a model's own output.
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "cli/commands.h"
#include "cli/figure_names.h"
#include "cli/options.h"
#include "cli/text_table.h"
#include "data/error.h"
#include "data/model_address.h"
#include "effect/effect_json.h"
#include "effect/effect_panels.h"
#include "figure/figure.h"
#include "input/painting.h"
#include "io/atomic_file.h"
#include "session/settings.h"

namespace fovea {
namespace {

struct EffectOptions {
  SourceOptions source;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants, outputs;
  std::string heads = "all", policy, units = "layer";
  std::vector<std::string> structures;
  PolicyBudget budget;
  bool sensitivity = false, curve = false, json = false;
};

bool is_json(const std::string& path) {
  return path.ends_with(".json");
}

std::string counted(std::size_t done, std::size_t all, const char* noun) {
  return std::to_string(done) + " of " + plural(static_cast<Index>(all), noun);
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

/// "ID" or "ID?KEY=VALUE&KEY=VALUE", with the settings of --set that the variant has.
ReplacedPart part_in(const std::string& text, const EffectOptions& options) {
  const std::size_t mark = text.find('?');
  const Variant& variant = find_variant(text.substr(0, mark));
  refuse_imported({&variant});
  ReplacedPart part{.variant = &variant,
                    .settings = {},
                    .seed = options.parameters.seed,
                    .heads = options.heads,
                    .structures = options.structures};
  for (const auto& [key, value] : options.parameters.by_key())
    if (options.variants.size() == 1 || has_parameter(variant, key)) part.settings[key] = value;
  std::string rest = mark == text.npos ? "" : text.substr(mark + 1);
  while (!rest.empty()) {
    const std::string item = rest.substr(0, rest.find('&'));
    rest.erase(0, item.size() + 1);
    const std::size_t equal = item.find('=');
    if (equal == item.npos || equal == 0)
      throw UsageError("--variant " + text + ": expected ID?KEY=VALUE&KEY=VALUE, found " +
                       fovea::quoted(item));
    part.settings[item.substr(0, equal)] = item.substr(equal + 1);
  }
  values_for_length(variant, default_length, part.settings);  // throws before anything is computed
  return part;
}

std::string settings_text(const ReplacedPart& part, const MeasuredPart& measured, Index tokens) {
  return part.variant->label + ", " + setting_text(*part.variant, measured.values, tokens);
}

/// "23.37, exact 21.04", or empty without a number.
std::string beside_exact(const std::optional<double>& number, const std::optional<double>& exact,
                         const auto& format) {
  if (!number) return "";
  return format(*number) + (exact ? ", exact " + format(*exact) : "");
}

void print_effect(std::ostream& out, const ModelEffect& effect,
                  std::span<const ReplacedPart> parts) {
  const auto plain = [](double number) { return format_plain(number); };
  const auto time = [](double ms) { return format_time(ms); };
  const auto percent = [](double share) { return format_percent(share); };
  out << effect.model << ", " << plural(effect.tokens, "token") << "; computed by "
      << effect.computed_by << '\n';
  for (std::size_t i = 0; i < parts.size(); ++i)
    out << settings_text(parts[i], effect.parts[i], effect.tokens) << ", in "
        << effect.parts[i].heads << " of " << effect.heads_of_model << " heads: " << parts[i].heads
        << '\n';
  out << '\n';
  print_facts(
      out,
      {{"perplexity", beside_exact(effect.perplexity, effect.exact_perplexity, plain)},
       {"loss per token", beside_exact(effect.loss_per_token, effect.exact_loss_per_token, plain)},
       {"KL from exact", effect.kl_mean ? "mean " + plain(*effect.kl_mean) + ", largest " +
                                              plain(effect.kl_max.value_or(0))
                                        : ""},
       {"same first choice", effect.top1_agreement ? percent(*effect.top1_agreement) : ""},
       {"pooled embedding", effect.pooled_cosine ? "cosine " + plain(*effect.pooled_cosine) : ""},
       {"first token", effect.class_cosine ? "cosine " + plain(*effect.class_cosine) : ""},
       {"cost of attention", percent(effect.attention_cost()) + " of exact"},
       {"the variant", effect.variant_ms ? time(*effect.variant_ms) : ""},
       {"attention of these layers",
        beside_exact(effect.attention_ms, effect.exact_attention_ms, time)},
       {"these layers", beside_exact(effect.layers_ms, effect.exact_layers_ms, time)},
       {"model", beside_exact(effect.model_ms, effect.exact_model_ms, time)}});
  TextTable table{{"layer", "|H' - H| / |H|", "mean cosine", "least cosine"}, {}};
  for (std::size_t layer = 0; layer < effect.drift.size(); ++layer) {
    const Drift& drift = effect.drift[layer];
    table.rows.push_back({std::to_string(layer), plain(drift.relative), plain(drift.cosine),
                          plain(drift.least_cosine)});
  }
  out << '\n';
  print(out, table);
  print_notes(out, effect.notes, 2);
}

/// The heads whose replacement changes most come first.
void print_unit_effects(std::ostream& out, const HeadEffects& effects) {
  std::vector<UnitEffect> found = effects.found();
  std::ranges::stable_sort(found, std::greater{}, &UnitEffect::change);
  const bool several = effects.candidates().size() > 1;
  out << "\n  Replaced alone\n";
  TextTable table{{"layer", "head"}, {}};
  if (several) table.header.push_back("variant");
  table.header.insert(table.header.end(), {"change", "mean KL", "|H' - H| / |H|", "cost"});
  for (const UnitEffect& unit : found) {
    auto& row = table.rows.emplace_back(std::vector{
        std::to_string(unit.layer), unit.head ? std::to_string(*unit.head) : std::string("all")});
    if (several) row.push_back(effects.candidates()[unit.variant].variant->id);
    row.insert(row.end(), {format_plain(unit.change),
                           unit.kl_mean ? format_plain(*unit.kl_mean) : std::string("-"),
                           format_plain(unit.drift.relative), format_percent(unit.cost)});
  }
  print(out, table);
}

void print_curve(std::ostream& out, const std::vector<LayerPoint>& points) {
  out << "\n  The last layers replaced\n";
  TextTable table{{"layers", "perplexity", "change", "cost of attention"}, {}};
  for (const LayerPoint& point : points)
    table.rows.push_back(
        {std::to_string(point.replaced),
         point.effect.perplexity ? format_plain(*point.effect.perplexity) : std::string("-"),
         format_plain(point.effect.change()), format_percent(point.effect.attention_cost())});
  print(out, table);
}

Document curve_json(const std::vector<LayerPoint>& points) {
  Document out = Document::array();
  for (const LayerPoint& point : points) {
    Document& row = out.emplace_back(Document{{"replaced_layers", point.replaced}});
    row["perplexity"] =
        point.effect.perplexity ? number_json(*point.effect.perplexity) : Document();
    row["change"] = number_json(point.effect.change());
    row["attention_cost"] = number_json(point.effect.attention_cost());
  }
  return out;
}

/// All that was measured.
struct Outcome {
  std::vector<ReplacedPart> parts;
  ModelEffect effect;
  std::optional<HeadEffects> alone;
  std::optional<LayerCurve> curve;
  std::optional<PolicySearch> search;  // `parts` are those of its best policy
};

HeadEffects measured_alone(EffectMeter& meter, const std::vector<ReplacedPart>& candidates,
                           const EffectOptions& options, Run& run, MeasuringLine& progress) {
  HeadEffects effects(candidates, ChosenHeads(options.heads, meter.layers(), meter.heads()),
                      options.units == "layer" ? UnitKind::layer : UnitKind::head);
  while (!effects.complete()) {
    progress.say(counted(effects.found().size(), effects.count(), "single replacement"));
    effects.step(meter, run);
  }
  return effects;
}

void search_policy(EffectMeter& meter, const std::vector<ReplacedPart>& candidates,
                   const EffectOptions& options, Run& run, MeasuringLine& progress, Outcome& out) {
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

Outcome measured(EffectMeter& meter, const EffectOptions& options, const Console& console) {
  MeasuringLine progress(console);
  Profile profile;
  Run run{profile, console.stop};
  Outcome out;
  std::vector<ReplacedPart> candidates;
  if (!options.policy.empty()) {
    out.parts = read_policy(options.policy, meter.layers(), meter.heads());
  }
  for (const std::string& variant : options.variants)
    candidates.push_back(part_in(variant, options));
  if (options.budget.change || options.budget.cost) {
    search_policy(meter, candidates, options, run, progress, out);
  } else {
    if (out.parts.empty()) out.parts = {candidates.front()};
    progress.say("measuring");
    out.effect = meter.measure(out.parts, run, Times::measured);
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

Figure figure_of(const Outcome& outcome) {
  Figure figure;
  constexpr double panel_width = 2.6;  // inches
  std::vector<Panel> row{drift_panel(outcome.effect)};
  if (outcome.curve)
    row.push_back(layer_curve_panel(outcome.curve->found(), outcome.curve->part().variant->label));
  if (outcome.search) row.push_back(trials_panel(*outcome.search));
  if (outcome.search || outcome.parts.size() > 1) row.push_back(parts_panel(outcome.parts));
  if (outcome.alone)
    for (std::size_t i = 0; i < outcome.alone->candidates().size(); ++i)
      row.push_back(unit_effects_panel(*outcome.alone, i));
  figure.style.width = panel_width * static_cast<double>(row.size()) * points_per_inch;
  figure.footer = outcome.effect.model + "; " + plural(outcome.effect.tokens, "token");
  figure.rows = {std::move(row)};
  return figure;
}

void write(const EffectOptions& options, const Outcome& outcome, const EffectMeter& meter,
           const std::string& source) {
  for (const std::string& output : options.outputs) {
    if (!is_json(output)) {
      const Painting painting;
      write_figure(output, figure_of(outcome));
      continue;
    }
    const Document policy = policy_json({outcome.parts, outcome.effect}, meter.layers(),
                                        meter.heads(), options.budget, source);
    write_atomically(output, text_of(policy, 1) + "\n");
  }
}

void check(const EffectOptions& options, const std::string& source) {
  if (!is_model_address(source))
    throw UsageError("effect: " + fovea::quoted(options.source.what) +
                     " is no model; expected a model with --text or --input");
  const bool searches = options.budget.change || options.budget.cost;
  if (options.variants.empty() == options.policy.empty())
    throw UsageError("effect: expected either --variant or --policy");
  if (!options.policy.empty() && (searches || options.sensitivity || options.curve))
    throw UsageError(
        "effect: --policy is measured as it is; expected it without --loss, --cost, "
        "--sensitivity and --layer-curve");
  if (!options.policy.empty() && (options.heads != "all" || !options.parameters.settings.empty() ||
                                  options.parameters.seed != 0 || !options.structures.empty()))
    throw UsageError(
        "effect: a policy says what each head computes; expected --policy without "
        "--heads, --set, --seed and --structure");
  if (options.variants.size() > 1 && !searches && !options.sensitivity)
    throw UsageError(
        "effect: expected one --variant, or --loss or --cost, which choose one for "
        "each head or layer");
  for (const std::string& output : options.outputs) {
    if (!is_json(output)) check_figure_name(output);
    require_writable(output);
    std::vector<std::string> read = options.structures;
    read.insert(read.end(),
                {options.source.what, options.source.model_input.value_or(""), options.policy});
    refuse_to_replace("-o", output, Source{}, read);
  }
}

void run_effect(const EffectOptions& options, const Console& console) {
  const std::string source = options.source.address();
  check(options, source);
  for (const std::string& variant : options.variants) part_in(variant, options);
  const auto backend = options.backend.make(console.err);
  OpenOptions open = options.source.open;
  open.stop = console.stop;
  open.backend = backend.get();
  const auto meter = effect_meter(source, open);
  const Outcome outcome = measured(*meter, options, console);
  write(options, outcome, *meter, source);
  if (options.json) {
    Document out = effect_json(outcome.effect, outcome.parts, source);
    if (outcome.search) out["policies"] = trials_json(*outcome.search);
    if (outcome.alone) out["sensitivity"] = unit_effects_json(*outcome.alone);
    if (outcome.curve) out["layer_curve"] = curve_json(outcome.curve->found());
    return print(console.out, out);
  }
  print_effect(console.out, outcome.effect, outcome.parts);
  if (outcome.alone) print_unit_effects(console.out, *outcome.alone);
  if (outcome.curve) print_curve(console.out, outcome.curve->found());
}

}  // namespace

void add_effect_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "effect",
      "What a variant in the place of a model's attention does to the model's own output: "
      "perplexity, next tokens, hidden states");
  auto options = std::make_shared<EffectOptions>();
  options->source.add_to(*command);
  command
      ->add_option("--variant", options->variants,
                   "The id of a variant (see fovea variants), perhaps with its own parameters as "
                   "in window?width=64; may be repeated with --loss, --cost and --sensitivity")
      ->type_name("ID[?KEY=VALUE&...]")
      ->allow_extra_args(false);
  command
      ->add_option("--heads", options->heads,
                   "Where it replaces exact attention: layers such as 25-29, heads such as "
                   "3.1,4.*, or all")
      ->check(refuse_empty)
      ->capture_default_str();
  options->parameters.add_to(*command);
  command
      ->add_option("--structure", options->structures,
                   "Use the trees, orders or samples in this .safetensors file, which fovea fit or "
                   "fovea compute has written, in the heads of the layer that they were made from; "
                   "may be repeated, for other layers. Other heads derive theirs")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(refuse_empty);
  options->backend.add_to(*command);
  auto* loss = command->add_option(
      "--loss", options->budget.change,
      "Find a policy: replace as much as the loss per token allows, which grows by at most this; "
      "for a model without a loss, as the relative change of its last hidden states allows");
  loss->check(number_from(0, 1e9));
  command
      ->add_option("--cost", options->budget.cost,
                   "Find a policy: replace what changes least, until attention costs at most this "
                   "share of exact attention")
      ->check(number_from(0, 1))
      ->excludes(loss);
  command
      ->add_option("--units", options->units,
                   "What --loss, --cost and --sensitivity replace alone: each layer, or each head")
      ->check(CLI::IsMember({"layer", "head"}))
      ->capture_default_str();
  command
      ->add_option("--policy", options->policy, "Measure a policy that -o policy.json has written")
      ->check(refuse_empty);
  command->add_flag("--sensitivity", options->sensitivity,
                    "Also replace each layer, or each head, alone, and list what that changes");
  command->add_flag("--layer-curve", options->curve,
                    "Also replace the last layers, in more and more of them");
  command
      ->add_option("-o,--output", options->outputs,
                   "Write a figure (.png, .svg, .pdf or .pgf) or the policy (.json), which "
                   "--policy and fovea.replace of Python read; may be repeated")
      ->check(refuse_empty)
      ->allow_extra_args(false);
  command->add_flag("--json", options->json,
                    "One JSON document on standard output, with the losses and divergences of "
                    "each token");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_effect(*options, console); };
  });
}

}  // namespace fovea
