// fovea effect: what another attention in some heads does to a model's own output.
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/text_table.h"
#include "data/error.h"
#include "data/model_address.h"
#include "input/model_effect.h"
#include "report/json_output.h"
#include "session/settings.h"

namespace fovea {
namespace {

struct EffectOptions {
  SourceOptions source;
  BackendOptions backend;
  ParameterOptions parameters;
  std::string variant, heads = "all";
  std::vector<std::string> structures;
  bool sensitivity = false, json = false;
};

/// What replacing one head alone does.
struct HeadEffect {
  Index layer = 0, head = 0;
  std::optional<double> loss_change, kl_mean;  // of models that predict the next token
  Drift drift;                                 // of the last hidden states
};

Document number_or_null(const std::optional<double>& number) {
  return number ? number_json(*number) : Document();
}

Document drift_json(const std::vector<Drift>& layers) {
  if (layers.empty()) return {};
  Document out = Document::array();
  for (const Drift& drift : layers)
    out.push_back({{"relative", number_json(drift.relative)},
                   {"cosine", number_json(drift.cosine)},
                   {"least_cosine", number_json(drift.least_cosine)}});
  return out;
}

Document row_json(const std::vector<double>& row) {
  if (row.empty()) return {};
  Document out = Document::array();
  for (const double number : row) out.push_back(number_json(number));
  return out;
}

Document sensitivity_json(const std::vector<HeadEffect>& heads) {
  Document out = Document::array();
  for (const HeadEffect& head : heads)
    out.push_back({{"layer", head.layer},
                   {"head", head.head},
                   {"loss_change", number_or_null(head.loss_change)},
                   {"kl_mean", number_or_null(head.kl_mean)},
                   {"relative", number_json(head.drift.relative)},
                   {"cosine", number_json(head.drift.cosine)}});
  return out;
}

Document effect_json(const ModelEffect& effect, const EffectRequest& request,
                     const std::string& heads, const std::string& source) {
  Document out{{"model", effect.model},
               {"source", source},
               {"computed_by", effect.computed_by},
               {"variant", request.variant->id}};
  Document settings = Document::object();
  for (const auto& [key, value] : request.settings) settings[key] = value;
  out["parameters"] = effect.values ? parameters_json(*request.variant, *effect.values) : settings;
  out["seed"] = request.seed;
  out["structures"] = request.structures;
  out["where"] = heads;
  out["heads"] = effect.heads;
  out["heads_of_model"] = effect.heads_of_model;
  out["tokens"] = effect.tokens;
  for (const auto& [name, number] : {std::pair{"exact_perplexity", effect.exact_perplexity},
                                     {"perplexity", effect.perplexity},
                                     {"exact_loss_per_token", effect.exact_loss_per_token},
                                     {"loss_per_token", effect.loss_per_token},
                                     {"kl_mean", effect.kl_mean},
                                     {"kl_max", effect.kl_max},
                                     {"top1_agreement", effect.top1_agreement},
                                     {"pooled_cosine", effect.pooled_cosine},
                                     {"class_cosine", effect.class_cosine}})
    out[name] = number_or_null(number);
  out["drift"] = drift_json(effect.drift);
  out["loss"] = row_json(effect.loss);
  out["exact_loss"] = row_json(effect.exact_loss);
  out["kl"] = row_json(effect.kl);
  out["labels"] = effect.labels;
  out["time"] = {{"variant_ms", number_or_null(effect.variant_ms)},
                 {"layers_ms", number_or_null(effect.layers_ms)},
                 {"exact_layers_ms", number_or_null(effect.exact_layers_ms)},
                 {"attention_ms", number_or_null(effect.attention_ms)},
                 {"exact_attention_ms", number_or_null(effect.exact_attention_ms)},
                 {"model_ms", number_or_null(effect.model_ms)},
                 {"exact_model_ms", number_or_null(effect.exact_model_ms)}};
  out["notes"] = effect.notes;
  return out;
}

/// "23.37, exact 21.04"; empty if there is none.
std::string beside_exact(const std::optional<double>& number, const std::optional<double>& exact,
                         const auto& format) {
  if (!number) return "";
  return format(*number) + (exact ? ", exact " + format(*exact) : "");
}

void print_effect(std::ostream& out, const ModelEffect& effect, const EffectRequest& request) {
  const auto plain = [](double number) { return format_plain(number); };
  const auto time = [](double ms) { return format_time(ms); };
  out << effect.model << ", " << plural(effect.tokens, "token") << '\n' << request.variant->label;
  if (effect.values) out << ", " << setting_text(*request.variant, *effect.values, effect.tokens);
  out << ", in " << effect.heads << " of " << effect.heads_of_model << " heads; computed by "
      << effect.computed_by << "\n\n";
  const auto percent = [](double share) { return format_percent(share); };
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

/// One head after the other, those first whose replacement changes most.
std::vector<HeadEffect> sensitivity_of(EffectMeter& meter, const std::string& heads,
                                       const Console& console) {
  const ChosenHeads chosen(heads, meter.layers(), meter.heads());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::vector<HeadEffect> out;
  for (Index layer = 0; layer < meter.layers(); ++layer)
    for (Index head = 0; head < meter.heads(); ++head) {
      if (!chosen.has(layer, head)) continue;
      const ModelEffect effect = meter.measure(std::to_string(layer) + "." + std::to_string(head));
      HeadEffect& found = out.emplace_back(HeadEffect{layer, head, {}, effect.kl_mean, {}});
      if (effect.loss_per_token && effect.exact_loss_per_token)
        found.loss_change = *effect.loss_per_token - *effect.exact_loss_per_token;
      if (!effect.drift.empty()) found.drift = effect.drift.back();
      if (!terminal) continue;
      console.err << "\r" << out.size() << " of " << plural(chosen.size(), "head") << std::flush;
    }
  if (terminal) console.err << '\n';
  std::ranges::stable_sort(out, std::greater{}, [](const HeadEffect& head) {
    return head.kl_mean.value_or(head.drift.relative);
  });
  return out;
}

void print_sensitivity(std::ostream& out, const std::vector<HeadEffect>& heads) {
  const bool predicts = !heads.empty() && heads.front().kl_mean;
  out << "\n  Each head replaced alone\n";
  TextTable table{{"layer", "head"}, {}};
  if (predicts) table.header.insert(table.header.end(), {"loss change", "mean KL"});
  table.header.insert(table.header.end(), {"|H' - H| / |H|", "mean cosine"});
  for (const HeadEffect& head : heads) {
    auto& row =
        table.rows.emplace_back(std::vector{std::to_string(head.layer), std::to_string(head.head)});
    if (predicts)
      for (const auto& number : {head.loss_change, head.kl_mean})
        row.push_back(number ? format_plain(*number) : "-");
    row.insert(row.end(), {format_plain(head.drift.relative), format_plain(head.drift.cosine)});
  }
  print(out, table);
}

void run_effect(const EffectOptions& options, const Console& console) {
  const std::string source = options.source.address();
  if (!is_model_address(source))
    throw UsageError("effect: " + fovea::quoted(options.source.what) +
                     " is no model; expected a model with --text or --input");
  const EffectRequest request{.variant = &find_variant(options.variant),
                              .settings = options.parameters.by_key(),
                              .seed = options.parameters.seed,
                              .structures = options.structures};
  refuse_imported({request.variant});
  const auto backend = options.backend.make(console.err);
  OpenOptions open = options.source.open;
  open.stop = console.stop;
  open.backend = backend.get();
  const auto meter = effect_meter(source, request, open);
  const ModelEffect effect = meter->measure(options.heads);
  std::vector<HeadEffect> heads;
  if (options.sensitivity) heads = sensitivity_of(*meter, options.heads, console);
  if (options.json) {
    Document out = effect_json(effect, request, options.heads, source);
    if (options.sensitivity) out["sensitivity"] = sensitivity_json(heads);
    return print(console.out, out);
  }
  print_effect(console.out, effect, request);
  if (options.sensitivity) print_sensitivity(console.out, heads);
}

}  // namespace

void add_effect_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "effect",
      "What a variant in the place of a model's attention does to the model's own output: "
      "perplexity, next tokens, hidden states");
  auto options = std::make_shared<EffectOptions>();
  options->source.add_to(*command);
  command->add_option("--variant", options->variant, "The id of a variant (see fovea variants)")
      ->required();
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
  command->add_flag("--sensitivity", options->sensitivity,
                    "Also replace each of these heads alone, and list what that changes");
  command->add_flag("--json", options->json,
                    "One JSON document on standard output, with the losses and divergences of "
                    "each token");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_effect(*options, console); };
  });
}

}  // namespace fovea
