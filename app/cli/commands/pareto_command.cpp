// fovea pareto: error against cost of every setting of variants that is worth trying.
#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/exploration.h"
#include "cli/model_trials.h"
#include "cli/options/checks.h"
#include "cli/options/command_line.h"
#include "cli/options/figure_names.h"
#include "cli/options/variant_options.h"
#include "cli/reports/pareto_figure.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/text.h"
#include "figure/figure.h"
#include "input/painting.h"
#include "io/atomic_file.h"
#include "report/text_table.h"
#include "session/settings.h"
#include "sweep/recommendation.h"

namespace fovea {
namespace {

struct ParetoOptions : ExplorationOptions {
  std::string x = "ratio_to_exact", y = "output_rel_fro", output;
  double cost = standard_cost;
  bool json = false, no_session = false;
  const CLI::Option* layer = nullptr;  // whether it was given

  bool of_model() const { return y == "loss"; }
};

std::string amount_text(const Quantity& quantity, double value) {
  if (quantity.is_parameter()) return format_drawn(value, 6);
  return to_text(quantity.measure(), Measured{.value = value});
}

std::string range_text(const Quantity& quantity, const Spread& spread) {
  return amount_text(quantity, spread.p10) + " - " + amount_text(quantity, spread.p90);
}

Document spread_json(const Spread& spread) {
  return {{"median", number_json(spread.median)},
          {"p10", number_json(spread.p10)},
          {"p90", number_json(spread.p90)}};
}

Document quantity_json(const Quantity& quantity) {
  const Measure& measure = quantity.measure();
  Document out{{"id", measure.id}, {"label", measure.label}};
  if (quantity.is_parameter())
    out["parameter"] = true;
  else
    out["better"] = measure.better == Measure::Better::more ? "more" : "less";
  return out;
}

void put_interval(Document& out, const SettingSpread& setting, const Quantity& y) {
  out["interval"] = setting.interval ? Document{number_json(setting.interval->low),
                                                number_json(setting.interval->high)}
                                     : Document(nullptr);
  out["interval_over"] = interval_text(setting, y);
}

Document setting_json(const SettingSpread& setting, const Quantity& y) {
  const bool known = setting.heads > 0;
  Document out{{"variant", setting.variant->id},
               {"parameters", parameters_json(*setting.variant, setting.values)},
               {"n", setting.n},
               {"heads", setting.heads},
               {"seeds", setting.seeds},
               {"x", known ? spread_json(setting.x) : Document(nullptr)},
               {"y", known ? spread_json(setting.y) : Document(nullptr)},
               {"on_front", setting.on_front}};
  if (known) put_interval(out, setting, y);
  if (setting.without > 0) out["heads_without"] = setting.without;
  if (setting.refused > 0) {
    out["heads_refused"] = setting.refused;
    out["refused"] = setting.refusal;
  }
  return out;
}

Document trial_json(const Trial& trial) {
  Document out{{"layer", trial.layer},
               {"head", trial.head},
               {"n", trial.n},
               {"variant", trial.variant->id},
               {"parameters", parameters_json(*trial.variant, trial.values)},
               {"seed", trial.seed},
               {"scale", number_json(trial.scale)},
               {"causal", trial.causal}};
  if (!trial.replaced.empty()) out["where"] = trial.replaced;
  if (!trial.refused.empty()) {
    out["refused"] = trial.refused;
    return out;
  }
  Document numbers = Document::object();
  for (std::size_t m = 0; m < trial.measured.size(); ++m) {
    const auto& measured = trial.measured[m];
    if (!measured) continue;
    numbers[measures()[m].id] = number_json(measured->value);
    if (measured->standard_error > 0)
      numbers[measures()[m].id + "_standard_error"] = number_json(measured->standard_error);
  }
  if (trial.model_change)
    numbers[trial.of_loss ? "loss" : "hidden"] = number_json(*trial.model_change);
  out["measures"] = std::move(numbers);
  if (trial.time) {
    out["timings_ms"] = timing_json(trial.time->timing);
    if (trial.time->total_speed_up) put_speed_up(out, "speed_up", *trial.time->total_speed_up);
    if (trial.time->exact_total) out["exact_ms"] = summary_json(*trial.time->exact_total);
    out["slow_machine"] = trial.time->slow;
  }
  out["notes"] = trial.notes;
  return out;
}

/// A setting of an answer; null if there is none.
Document answer_json(const std::optional<SettingSpread>& setting, const Quantity& error) {
  if (!setting) return nullptr;
  Document out{{"variant", setting->variant->id},
               {"parameters", parameters_json(*setting->variant, setting->values)},
               {"seed", setting->seed},
               {"error", number_json(setting->y.median)},
               {"cost", number_json(setting->x.median)}};
  put_interval(out, *setting, error);
  return out;
}

Document answer_json(const Recommendation& answer) {
  return {{"text", to_text(answer)},
          {"cost_at_most", answer.at_most},
          {"best", answer_json(answer.best, answer.error)},
          {"next", answer_json(answer.next, answer.error)},
          {"undecided", answer.undecided},
          {"small_error", answer.small_error ? Document(*answer.small_error) : Document(nullptr)},
          {"cheapest_with_small_error", answer_json(answer.near, answer.error)}};
}

struct ParetoOutcome {
  Exploration tried;
  Quantity x, y;
  std::vector<SettingSpread> settings;
  Recommendation answer;

  /// Over several heads each setting has a spread. In a model it is measured once, in all of them.
  bool spreads() const { return tried.heads.size() > 1 && !y.is_of_model(); }
  bool has_intervals() const {
    return std::ranges::any_of(settings, [](const auto& s) { return s.interval.has_value(); });
  }
  std::string heads_text() const {
    return (y.is_of_model() ? "replaced together: " : "") + to_text(tried.heads, tried.source);
  }
};

Document pareto_json(const ParetoOutcome& outcome) {
  Document out = begin_json(outcome.tried);
  out["x"] = quantity_json(outcome.x);
  out["y"] = quantity_json(outcome.y);
  out["answer"] = answer_json(outcome.answer);
  out["settings"] = Document::array();
  for (const SettingSpread& setting : outcome.settings)
    out["settings"].push_back(setting_json(setting, outcome.y));
  out["trials"] = Document::array();
  for (const Trial& trial : outcome.tried.trials) out["trials"].push_back(trial_json(trial));
  return out;
}

/// Sorted by x; settings without numbers are left to the notes.
TextTable table_of(const ParetoOutcome& outcome) {
  std::vector<const SettingSpread*> sorted;
  for (const SettingSpread& setting : outcome.settings)
    if (setting.heads > 0) sorted.push_back(&setting);
  std::ranges::stable_sort(sorted, {}, [](const SettingSpread* s) { return s->x.median; });
  const bool several = outcome.spreads();
  TextTable table{{"<", "<variant", "<parameters", outcome.x.measure().label}, {}};
  const bool spread = several && !outcome.x.is_parameter();  // of x
  if (spread) table.header.push_back("p10 - p90");
  table.header.push_back(outcome.y.measure().label);
  if (outcome.has_intervals()) table.header.push_back("95 % interval");
  if (several) {
    table.header.push_back("p10 - p90");
    table.header.push_back("heads");
  }
  for (const SettingSpread* s : sorted) {
    auto& row = table.rows.emplace_back();
    row = {s->on_front ? "*" : "", s->variant->id, setting_text(*s->variant, s->values, s->n),
           amount_text(outcome.x, s->x.median)};
    if (spread) row.push_back(range_text(outcome.x, s->x));
    row.push_back(amount_text(outcome.y, s->y.median));
    if (outcome.has_intervals())
      row.push_back(s->interval ? amount_text(outcome.y, s->interval->low) + " - " +
                                      amount_text(outcome.y, s->interval->high)
                                : "-");
    if (!several) continue;
    row.push_back(range_text(outcome.y, s->y));
    row.push_back(std::to_string(s->heads));
  }
  return table;
}

std::vector<std::string> notes_of(const SettingSpread& s) {
  const std::string what = s.variant->id + " " + setting_text(*s.variant, s.values, s.n) + ": ";
  std::vector<std::string> notes;
  if (s.without > 0)
    notes.push_back(what + plural(s.without, "head") +
                    " left out, where one of the two numbers is not defined");
  if (s.few_runs)
    notes.push_back(what + "the time is of fewer than " + std::to_string(enough_samples) + " runs");
  if (s.slow) notes.push_back(what + "the time was measured on a slowed machine");
  return notes;
}

void print_pareto(std::ostream& out, const ParetoOutcome& outcome) {
  const Exploration& tried = outcome.tried;
  if (const std::string answer = to_text(outcome.answer); !answer.empty()) out << answer << "\n\n";
  out << tried.source.name << ", " << outcome.heads_text() << '\n'
      << tried.device << ", " << tried.precision << "; " << tried.time_text() << "\n\n";
  print(out, table_of(outcome));
  if (!outcome.x.is_parameter())
    out << "\n  *: on the Pareto front: nothing else that was tried is at least as good in both "
           "numbers and "
           "better in one"
        << (outcome.spreads() ? ", in the median over heads" : "") << "\n";
  if (outcome.has_intervals())
    out << "  95 % interval: of the median, over "
        << (outcome.spreads() ? "the heads" : "the seeds of settings with random choices") << '\n';
  if (outcome.y.is_of_model()) out << "  " << outcome.y.measure().definition << '\n';
  for (const SettingSpread& s : outcome.settings) print_notes(out, notes_of(s), 2);
  print_notes(out, fovea::notes_of(tried), 2);
  print_notes(out, notes_of_source(tried), 2);
}

void run_pareto(ParetoOptions options, const Console& console) {
  const Quantity x = cost_axis(options.x, variants_named(options.variants), "--x");
  const Quantity y = options.of_model() ? Quantity::of_model("loss")  // or "hidden", as is found
                                        : measured_axis(options.y, "--y");
  if (options.of_model() && !x.is_parameter() && x.measure().id != "multiply_adds" &&
      x.measure().id != "ratio_to_exact")
    throw UsageError("--x " + options.x +
                     ": --y loss goes with multiply_adds, ratio_to_exact or a parameter");
  if (options.of_model() && options.layer->count() == 0) options.heads.layer = "all";
  options.explore.timed = x.is_timed() || y.is_timed();
  options.of_outputs = x.measure().of_outputs || y.measure().of_outputs;
  if (!options.output.empty()) {
    check_figure_name(options.output);
    require_writable(options.output);
    refuse_to_replace("-o", options.output, Source{},
                      {options.source.what, options.source.model_input.value_or("")});
  }
  ParetoOutcome outcome{.tried = options.of_model()
                                     ? explore_model(options, ReplacedBy::all_heads, console)
                                     : explore(options, console),
                        .x = x,
                        .y = y,
                        .settings = {},
                        .answer = {.error = y}};
  const Exploration& tried = outcome.tried;
  if (options.of_model()) outcome.y = model_quantity(tried);
  outcome.settings = drawable_settings(tried.trials, x, outcome.y);
  outcome.answer = recommend(tried.trials, outcome.y, options.cost);
  if (!options.output.empty()) {
    const Painting painting;
    Figure figure = pareto_figure(
        outcome.settings, x, outcome.y,
        named(options.no_session ? "" : tried.source.name,
              outcome.heads_text() + "; " + tried.device + ", " + tried.precision),
        x.measure().id == "ratio_to_exact" ? std::optional(options.cost) : std::nullopt);
    if (!options.no_session) figure.recipe.command = command_line(console.words, options.output);
    write_figure(options.output, figure);
  }
  if (options.json)
    print(console.out, pareto_json(outcome));
  else
    print_pareto(console.out, outcome);
}

}  // namespace

void add_pareto_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "pareto", "Error against cost of many settings of each variant, with the Pareto front");
  auto options = std::make_shared<ParetoOptions>();
  options->add_to(*command, "0");
  options->layer = command->get_option("--layer");
  command
      ->add_option("--x", options->x,
                   "Cost: ratio_to_exact (its share of exact's multiply-adds), multiply_adds, "
                   "bytes or time (each setting measured for "
                   "some rounds); or a parameter of all variants, such as block with --variant h1d")
      ->type_name("MEASURE|PARAMETER")
      ->capture_default_str();
  command
      ->add_option("--y", options->y,
                   "Error: output_rel_fro, attention_tv, attention_kl, mass_kept or another number "
                   "that compute --json calls so; or loss: by how much the loss per token of the "
                   "model grows if a setting replaces attention in all its heads (or those of "
                   "--layer and --head) together; of a model without a loss, the relative error of "
                   "its last hidden states")
      ->type_name("MEASURE")
      ->capture_default_str();
  command
      ->add_option("--cost", options->cost,
                   "The answer, which is printed first, is what makes the least error for at most "
                   "this share of the cost of exact attention")
      ->type_name("SHARE")
      ->check(number_from(0, 1e9))
      ->capture_default_str();
  options->explore.seeds = standard_seeds;
  command
      ->add_option("--seeds", options->explore.seeds,
                   "Seeds with which settings with random choices are tried if there is one head; "
                   "their interval takes at least 6")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write a figure: .png, .svg, .pdf or .pgf")
      ->check(refuse_empty);
  add_no_session(*command, options->no_session);
  command->add_flag("--json", options->json,
                    "One JSON document on standard output, with every trial; infinity is written "
                    "as the text \"infinite\"");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_pareto(*options, console); };
  });
}

}  // namespace fovea
