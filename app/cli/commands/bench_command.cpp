// fovea bench: measures variants and exact attention, interleaved in the same run.
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <thread>

#include "cli/bench/gemm_baseline.h"
#include "cli/bench/measurement.h"
#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "cli/reports/interaction_report.h"
#include "cli/reports/selections_report.h"
#include "data/error.h"
#include "data/marked_table.h"
#include "data/model_address.h"
#include "report/json_output.h"
#include "report/text_table.h"

namespace fovea {
namespace {

constexpr int gemm_size = 1536;

struct BenchOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants{"papers"};
  Index n = 4096, d = 64, head_count = 1;
  int repeat = 7;
  bool json = false, interaction = false, selections = false;
  std::string format = "text";
};

struct BenchOutcome {
  std::string input, device, precision, backend;
  Index n = 0, d = 0, heads = 0;
  bool causal = false;
  std::vector<Measurement> measurements;
  double gemm_gflops = 0, memory_pass = 0;  // memory_pass in ms
  double peak_bytes = 0;
};

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

struct BenchInput {
  std::string name;
  std::vector<Problem> problems;
};

BenchInput input_of(const BenchOptions& options, const Console& console) {
  const std::stop_token& stop = console.stop;
  if (options.source.what.empty()) {
    const HeadConditions& conditions = options.heads.conditions;
    std::vector<Problem> drawn =
        random_heads(options.n, options.d, options.head_count, conditions.causal.value_or(false),
                     options.parameters.seed, conditions.scale.value_or(0));
    for (Problem& problem : drawn) {
      problem.window = conditions.window.value_or(0);
      add_conditions(problem, {}, conditions.soft_cap.value_or(0), "");
    }
    return {"independent gaussians", std::move(drawn)};
  }
  const Source source = options.source.load(stop, options.backend.threads);
  options.heads.tell_layer(source, console.err);
  BenchInput input{
      is_model_address(source.path) || !source.order.empty() ? source.name : options.source.what,
      {}};
  for (const Index head : options.heads.heads_in(source))
    input.problems.push_back(options.heads.problem(source, head, stop));
  return input;
}

/// Exact attention comes first, because every ratio refers to it.
std::vector<Contender> contenders_of(const BenchOptions& options, const Problem& head) {
  std::vector<std::string> ids{reference_variant().id};
  ids.insert(ids.end(), options.variants.begin(), options.variants.end());
  const auto chosen = variants_named(ids, &head);
  refuse_imported(chosen);
  const auto values = options.parameters.applied(chosen, head.keys());
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < chosen.size(); ++i) contenders.push_back({chosen[i], values[i]});
  return contenders;
}

BenchOutcome run(const BenchOptions& options, const Console& console) {
  variants_named(options.variants);
  const auto [input, problems] = input_of(options, console);
  const auto backend = options.backend.make(console.err);
  const int threads = options.backend.threads > 0
                          ? options.backend.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const Problem& first = problems.front();
  tell_left_out(options.variants, first, console.err);
  BenchOutcome outcome{.input = input,
                       .device = backend->device(),
                       .precision = backend->precision(),
                       .backend = backend->id(),
                       .n = first.keys(),
                       .d = first.d(),
                       .heads = static_cast<Index>(problems.size()),
                       .causal = first.is_causal()};
  outcome.measurements =
      measure(problems, contenders_of(options, first), *backend,
              {.rounds = options.repeat, .seed = options.parameters.seed}, console.stop);
  outcome.peak_bytes = peak_memory();
  outcome.gemm_gflops = gemm_rate(gemm_size, threads, 5);
  outcome.memory_pass = memory_pass_ms(first.keys(), first.d(), threads, 5);
  return outcome;
}

Document outcome_json(const BenchOutcome& outcome) {
  Document list = Document::array();
  for (const Measurement& m : outcome.measurements) {
    Document row{{"variant", m.contender.variant->id},
                 {"parameters", parameters_json(*m.contender.variant, m.contender.values)},
                 {"timings_ms", timing_json(m.timing)},
                 {"cost", cost_json(m.cost)},
                 {"gflops", number_json(m.rate())},
                 {"promised_speed_up", number_json(m.promised_speed_up)},
                 {"share_of_promised", number_json(m.share())},
                 {"notes", m.notes}};
    put_speed_up(row, "speed_up", m.speed_up);
    list.push_back(std::move(row));
  }
  return {{"input", outcome.input},
          {"n", outcome.n},
          {"d", outcome.d},
          {"heads", outcome.heads},
          {"causal", outcome.causal},
          {"backend", outcome.backend},
          {"device", outcome.device},
          {"precision", outcome.precision},
          {"measurements", std::move(list)},
          {"gemm_gflops", outcome.gemm_gflops},
          {"memory_pass_ms", outcome.memory_pass},
          {"peak_bytes", outcome.peak_bytes}};
}

std::string speed_up_text(const Measurement& m) {
  return m.contender.variant->reference ? "1 ×" : to_text(m.speed_up);
}

std::string range_text(const StageSummary& summary) {
  return format_time(summary.p10_ms) + " - " + format_time(summary.p90_ms);
}

void print_stages(std::ostream& out, const BenchOutcome& outcome) {
  TextTable table{{"<variant", "<part", "<stage", "median", "p10 - p90"}, {}};
  for (const Measurement& m : outcome.measurements) {
    const auto add = [&](const char* part, const std::vector<StageSummary>& stages) {
      for (const StageSummary& stage : stages)
        if (stage.median_ms >= 1e-3)  // shorter times are below the clock's resolution
          table.rows.push_back({m.contender.variant->id, part,
                                stage.name == "upload" ? upload_label(outcome.backend) : stage.name,
                                format_time(stage.median_ms), range_text(stage)});
    };
    add("plan", m.timing.plan);
    add(upload_label(outcome.backend), m.timing.upload);
    add("apply", m.timing.apply);
  }
  print(out, table);
}

/// The table for a paper: times and ratios, without the stages.
MarkedTable times_table(const BenchOutcome& outcome) {
  MarkedTable table{.corner = "attention",
                    .titles = {"plan", upload_label(outcome.backend), "apply", "p10", "p90",
                               "speed-up", "multiply-adds", "of exact"},
                    .rows = {},
                    .foot = speed_ups_note};
  for (const Measurement& m : outcome.measurements) {
    const Timing& timing = m.timing;
    MarkedTable::Row row{.title = m.contender.variant->label, .cells = {}};
    for (const std::string& text :
         {format_time(timing.plan_total.median_ms), format_time(timing.upload_total.median_ms),
          format_time(timing.apply_total.median_ms), format_time(timing.apply_total.p10_ms),
          format_time(timing.apply_total.p90_ms), speed_up_text(m),
          format_count(m.cost.multiply_adds), format_plain(m.cost.ratio_to_exact())})
      row.cells.push_back({.text = text});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// A comment in the table says what was measured on which machine.
void print_table(std::ostream& out, const BenchOutcome& outcome, TableFormat format) {
  const bool latex = format == TableFormat::latex;
  const std::string about =
      printable(outcome.input) + ": n = " + std::to_string(outcome.n) +
      ", d = " + std::to_string(outcome.d) + ", " + plural(outcome.heads, "head") + ", " +
      (outcome.causal ? "causal" : "bidirectional") + "; " + outcome.device + ", " +
      outcome.precision + ", median of " +
      plural(outcome.measurements.front().timing.apply_total.samples, "sample");
  if (latex) out << "% " << about << "\n% \\usepackage{booktabs}\n";
  out << to_text(times_table(outcome), format);
  if (!latex) out << '\n' << about << '\n';
}

void print_outcome(std::ostream& out, const BenchOutcome& outcome) {
  const Timing& timing = outcome.measurements.front().timing;
  out << printable(outcome.input) << ": n = " << outcome.n << ", d = " << outcome.d << ", "
      << plural(outcome.heads, "head") << ", " << (outcome.causal ? "causal" : "bidirectional")
      << '\n'
      << outcome.device << ", " << outcome.precision << "; times of one head, median of "
      << plural(timing.apply_total.samples, "sample") << " after a warm-up"
      << (timing.few_samples() ? ": too few to trust" : "") << "\n\n";
  TextTable table{
      {"<variant", "learning", "plan", upload_label(outcome.backend), "apply", "p10 - p90",
       "GFLOP/s", "speed-up", "by cost", "reached", "mult-adds", "of exact", "bytes"},
      {}};
  for (const Measurement& m : outcome.measurements)
    table.rows.push_back(
        {m.contender.variant->id,
         m.timing.learning.samples > 0 ? format_time(m.timing.learning.median_ms) : "-",
         format_time(m.timing.plan_total.median_ms), format_time(m.timing.upload_total.median_ms),
         format_time(m.timing.apply_total.median_ms), range_text(m.timing.apply_total),
         format_plain(m.rate()), speed_up_text(m), format_plain(m.promised_speed_up),
         format_plain(m.share()), format_count(m.cost.multiply_adds),
         format_plain(m.cost.ratio_to_exact()), format_bytes(m.cost.bytes)});
  print(out, table);
  out << "\n  speed-up: time of exact over time of the variant, for plan, "
      << upload_label(outcome.backend)
      << " and apply\n"
         "  together: the "
      << basis_text(outcome.measurements.back().speed_up)
      << ", not the ratio of the medians above,\n"
         "  with an interval of 95 % confidence if there are enough. learning, such as building a "
         "tree, is done\n"
         "  beforehand and not part of it.\n"
         "  by cost: the ratio of multiply-adds. reached: the share of it that is speed-up.\n\n";
  print_stages(out, outcome);
  out << '\n';
  print_facts(
      out, {{"matrix product", format_plain(outcome.gemm_gflops) + " GFLOP/s (Eigen, " +
                                   std::to_string(gemm_size) + " cubed)"},
            {"memory pass", format_time(outcome.memory_pass) + " to read Q, K, V and write Z once"},
            {"peak memory", format_bytes(outcome.peak_bytes)}});
  for (const Measurement& m : outcome.measurements)
    for (const auto& note : m.notes) print_note(out, m.contender.variant->id + ": " + note, 2);
}

}  // namespace

namespace {

// Measures the window, which opens sources by name. Without SOURCE it opens synthetic clusters of
// length n.
InteractionFigures interact(const BenchOptions& options, const Console& console) {
  const std::string source = !options.source.what.empty()
                                 ? options.source.address()
                                 : "synthetic:clusters?n=" + std::to_string(options.n) +
                                       "&d=" + std::to_string(options.d) +
                                       (options.n <= 16384 ? "&heads=4" : "");
  return measure_interaction(source, options.backend,
                             [&] { return console.stop.stop_requested(); });
}

SelectionFigures select(const BenchOptions& options, const Console& console) {
  return measure_selections({.n = options.n,
                             .d = options.d,
                             .causal = options.heads.conditions.causal.value_or(false),
                             .rounds = options.repeat,
                             .seed = options.parameters.seed},
                            *options.backend.make(console.err), console.stop);
}

/// All options but those that are taken would be ignored.
void exclude_others(CLI::App& command, const char* name, std::set<std::string> taken) {
  taken.insert({name, "--help", "--n", "--d", "--precision", "--backend", "--json", "--threads"});
  auto* measured = command.get_option(name);
  for (CLI::Option* option : command.get_options())
    if (!taken.contains(option->get_name())) measured->excludes(option);
}

}  // namespace

void add_bench_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "bench", "Measure the time of variants, interleaved with exact attention");
  auto options = std::make_shared<BenchOptions>();
  options->source.add_to(*command, false);
  auto* source = command->get_option("SOURCE");
  const std::string group = "Random normal Q, K and V instead of SOURCE";
  command->add_option("--n", options->n, "Tokens")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str()
      ->excludes(source)
      ->group(group);
  command->add_option("--d", options->d, "Features per head")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->excludes(source)
      ->group(group);
  command->add_option("--heads", options->head_count, "Heads")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->excludes(source)
      ->group(group);
  command->add_option("--variant", options->variants, "Ids of variants, or " + words_for_groups())
      ->allow_extra_args(false)
      ->type_name("ID")
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Measured rounds, after one warm-up")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_flag("--interaction", options->interaction,
                    "Measure instead how long a person waits while panning and zooming in the real "
                    "window (try --n 131072); needs a display");
  command->add_flag("--selections", options->selections,
                    "Measure instead given masks and selectors of keys beside all pairs, and how "
                    "long a file of lists takes to open (try --n 32768)");
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "all", true);
  for (const char* of_source : {"--layer", "--head"}) command->get_option(of_source)->needs(source);
  options->backend.add_to(*command);
  auto* json = command->add_flag("--json", options->json, "One JSON document on standard output");
  command
      ->add_option("--format", options->format,
                   "text, or the table of times alone as latex (booktabs) or markdown")
      ->check(CLI::IsMember({"text", "latex", "markdown"}))
      ->capture_default_str()
      ->excludes(json);
  // The window opens a source with its standard columns.
  exclude_others(*command, "--interaction", {"SOURCE"});
  exclude_others(*command, "--selections", {"--causal", "--repeat", "--seed"});
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) {
      if (options->interaction) {
        const InteractionFigures figures = interact(*options, console);
        if (options->json)
          print(console.out, to_json(figures));
        else
          print(console.out, figures);
        return;
      }
      if (options->selections) {
        const SelectionFigures figures = select(*options, console);
        if (options->json)
          print(console.out, to_json(figures));
        else
          print(console.out, figures);
        return;
      }
      const BenchOutcome outcome = run(*options, console);
      if (options->json)
        print(console.out, outcome_json(outcome));
      else if (options->format == "text")
        print_outcome(console.out, outcome);
      else
        print_table(console.out, outcome,
                    options->format == "latex" ? TableFormat::latex : TableFormat::markdown);
    };
  });
}

}  // namespace fovea
