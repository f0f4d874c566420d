// fovea heads: for each head of a source the best setting of the variants under a budget, what the
// head does, or which pattern of sparse prefill it takes.
#include <cmath>

#include "cli/commands/commands.h"
#include "cli/exploration.h"
#include "cli/head_measuring.h"
#include "cli/head_triaging.h"
#include "cli/model_trials.h"
#include "cli/options/checks.h"
#include "cli/reports/report.h"
#include "report/head_table_files.h"
#include "report/text_table.h"
#include "session/settings.h"

namespace fovea {
namespace {

struct HeadsOptions : ExplorationOptions {
  double within = 0.05;
  std::optional<double> at_most;
  std::string y = "output_rel_fro";
  bool measures = false, triage = false, json = false, csv = false;
  TriageOptions triage_options;

  bool of_model() const { return y == "loss"; }
  Budget budget(const std::string& error) const {
    return at_most ? cost_budget(*at_most, error) : error_budget(within, error);
  }
};

std::string plain_or_dash(const std::optional<double>& number) {
  return number ? format_plain(*number) : "-";
}

void print_heads(std::ostream& out, const Exploration& tried, const HeadTable& choices) {
  out << tried.source.name << ", " << to_text(tried.heads, tried.source) << '\n'
      << tried.device << ", " << tried.precision << "; " << tried.time_text() << '\n'
      << to_text(choices.budget) << ", of what was tried\n\n";
  TextTable table{{"<layer", "head", "<variant", "<parameters", choices.error().measure().label,
                   choices.cost().measure().label},
                  {}};
  for (const HeadTable::Row& row : choices.rows) {
    const Trial& trial = *row.choice;
    table.rows.push_back({layer_label(tried.source, trial.layer), std::to_string(trial.head),
                          trial.variant->id + (row.kept ? "" : " (none keeps it)"),
                          setting_text(*trial.variant, trial.values, trial.n),
                          plain_or_dash(choices.error().of(trial)),
                          plain_or_dash(choices.cost().of(trial))});
  }
  print(out, table);
  out << "\n  " << sum_text(choices) << '\n';
  if (choices.error().is_of_model())
    out << "  Each head was replaced alone, the others being exact. What several change together "
           "is "
           "no sum:\n  fovea effect --loss finds a policy by whole forward passes\n";
  print_notes(out, notes_of(tried), 2);
  print_notes(out, notes_of_source(tried), 2);
}

void run_heads(HeadsOptions options, const Console& console) {
  if (options.measures) return measure_heads(options, options.json, options.csv, console);
  if (options.triage)
    return triage_heads(options, options.triage_options, options.json, options.csv, console);
  options.of_outputs = !options.of_model();
  const Exploration tried = options.of_model()
                                ? explore_model(options, ReplacedBy::each_head, console)
                                : explore(options, console);
  const std::string error = options.of_model() ? model_quantity(tried).measure().id : options.y;
  const HeadTable table = head_table(tried.trials, tried.heads, options.budget(error));
  if (options.json) {
    Document out = begin_json(tried);
    out.update(to_json(table, tried.source));
    print(console.out, out);
  } else if (options.csv) {
    console.out << to_csv(table);
    print_notes(console.err, notes_of(tried));
    print_notes(console.err, notes_of_source(tried));
  } else {
    print_heads(console.out, tried, table);
  }
}

std::string check_amount(const std::string& text) {
  double value = 0;
  const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
  return good ? "" : "'" + text + "' found; expected a number of at least 0";
}

CLI::Option* add_measures(CLI::App& command, HeadsOptions& options) {
  return command.add_flag(
      "--measures", options.measures,
      "Show what each head does instead: its attention to the previous token, to the same token "
      "before, "
      "to what followed that (induction) and to the first token, its distance, entropy and rank. A "
      "folder as --input stands for all texts or images in it; one that cannot be read is named");
}

CLI::Option* add_triage(CLI::App& command, HeadsOptions& options) {
  TriageOptions& triage = options.triage_options;
  auto* flag = command.add_flag(
      "--triage", options.triage,
      "Show the pattern of sparse prefill that keeps the most of each head instead: streaming "
      "(sinks "
      "and a window), vertical-slash (columns and diagonals), block (blocks of keys), or full");
  command
      .add_option("--budget", triage.rule.budget,
                  "The share of the pairs that a pattern of --triage keeps at most")
      ->type_name("SHARE")
      ->check(number_from(0, 1))
      ->capture_default_str()
      ->needs(flag);
  command
      .add_option(
          "--keep", triage.rule.keep,
          "The mass of exact attention that a pattern of --triage keeps at least; a head in "
          "which none does stays full")
      ->type_name("SHARE")
      ->check(number_from(0, 1))
      ->capture_default_str()
      ->needs(flag);
  command
      .add_option("-o,--output", triage.output,
                  "Write what --triage finds as the configuration that MInference reads "
                  "(config_path), a .json file")
      ->type_name("FILE")
      ->check(refuse_empty)
      ->needs(flag);
  return flag;
}

}  // namespace

void add_heads_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "heads",
      "The best setting of the variants for each head, under a budget of error or cost; what each "
      "head does; or which pattern of sparse prefill it takes");
  auto options = std::make_shared<HeadsOptions>();
  options->add_to(*command, "all");
  auto* within =
      command
          ->add_option("--within", options->within,
                       "The cheapest setting whose relative output error, or with --y loss whose "
                       "change of the model, is at most this")
          ->type_name("ERROR")
          ->check(check_amount)
          ->capture_default_str();
  auto* at_most =
      command
          ->add_option("--cost", options->at_most,
                       "Instead the setting of least error that costs at most this share of the "
                       "multiply-adds of exact attention")
          ->type_name("SHARE")
          ->check(check_amount)
          ->excludes(within);
  auto* y = command
                ->add_option("--y", options->y,
                             "The error: output_rel_fro, of the head's own output; or loss: by how "
                             "much the loss per token of the model grows if this head alone is "
                             "replaced, a forward pass for each head and setting; of a model "
                             "without a loss, the relative error of its last hidden states")
                ->check(CLI::IsMember({"output_rel_fro", "loss"}))
                ->capture_default_str();
  auto* measures = add_measures(*command, *options);
  auto* triage = add_triage(*command, *options);
  for (CLI::Option* other :
       {within, at_most, y, command->get_option("--variant"), command->get_option("--settings"),
        command->get_option("--learn"), command->get_option("--no-learn")})
    for (CLI::Option* instead : {measures, triage}) instead->excludes(other);
  triage->excludes(measures);
  auto* json = command->add_flag("--json", options->json,
                                 "One JSON document on standard output: for each head what was "
                                 "found, with parameters, seed, scale and mask");
  command->add_flag("--csv", options->csv, "The same as a table, a line for each head")
      ->excludes(json);
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_heads(*options, console); };
  });
}

}  // namespace fovea
