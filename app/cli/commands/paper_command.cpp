// fovea paper: figures and numbers of the papers, computed again beside what the papers state.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/checks.h"
#include "cli/options/command_line.h"
#include "cli/options/figure_names.h"
#include "cli/options/source_options.h"
#include "data/error.h"
#include "data/model_address.h"
#include "data/text.h"
#include "figure/figure.h"
#include "input/assets.h"
#include "input/painting.h"
#include "io/atomic_file.h"
#include "papers/paper_figure.h"
#include "report/json_output.h"
#include "report/text_table.h"

namespace fovea {
namespace {

constexpr double paper_width = 6.75;  // inches
constexpr const char* list_name = "list";
constexpr Index standard_longest = 16384;  // tokens
constexpr std::chrono::seconds shown_every{3};

struct PaperOptions {
  std::string name = list_name, output;
  std::optional<Index> longest;
  SourceOptions model;
  BackendOptions backend;
  bool json = false, no_session = false;
};

/// Reports the progress of the work while it lives.
class ProgressLine {
 public:
  ProgressLine(const Progress& progress, std::ostream& out)
      : thread_([this, &progress, &out](std::stop_token stop) {
          std::unique_lock lock(mutex_);
          while (!woken_.wait_for(lock, stop, shown_every, [&] { return stop.stop_requested(); }))
            out << format_number(100 * progress.fraction, 2) << " %\n" << std::flush;
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

/// "tree-time, running-time".
std::string timed_figures() {
  std::string names;
  for (const PaperFigure& figure : paper_figures())
    if (figure.timed) add_item(names, figure.id);
  return names;
}

Document list_json() {
  Document out = Document::array();
  for (const PaperFigure& figure : paper_figures())
    out.push_back({{"id", figure.id},
                   {"paper", figure.paper},
                   {"title", figure.title},
                   {"sentence", figure.sentence}});
  return out;
}

void print_list(std::ostream& out) {
  TextTable table{{"<name", "<of", "<what it shows"}, {}};
  for (const PaperFigure& figure : paper_figures())
    table.rows.push_back({figure.id, figure.paper, figure.sentence});
  print(out, table);
}

Document result_json(const PaperFigure& figure, const PaperResult& result, const Backend& backend) {
  Document numbers = Document::array();
  for (const PaperNumber& number : result.numbers)
    numbers.push_back(
        {{"id", number.id},
         {"what", number.what},
         {"published", number.published ? number_json(*number.published) : Document(nullptr)},
         {"found", number_json(number.found)},
         {"apart", number.apart},
         {"expected", number.expected ? number_json(*number.expected) : Document(nullptr)},
         {"standard_error",
          number.standard_error ? number_json(*number.standard_error) : Document(nullptr)}});
  return {{"id", figure.id},
          {"paper", figure.paper},
          {"title", figure.title},
          {"backend", backend.id()},
          {"device", backend.device()},
          {"precision", backend.precision()},
          {"numbers", std::move(numbers)},
          {"notes", result.notes}};
}

/// A count in full.
std::string cell_of(std::optional<double> number) {
  if (!number) return "-";
  const bool count = *number == std::floor(*number) && std::abs(*number) < 1e9;
  return count ? std::to_string(static_cast<std::int64_t>(*number)) : format_number(*number);
}

void print_result(std::ostream& out, const PaperFigure& figure, const PaperResult& result) {
  out << figure.title << "\n" << figure.paper << "\n\n";
  const bool expects = std::ranges::any_of(
      result.numbers, [](const PaperNumber& number) { return number.expected.has_value(); });
  TextTable table{{"<", "paper"}, {}};
  if (expects) table.header.push_back("theory");
  table.header.insert(table.header.end(), {"here", "<"});
  for (const PaperNumber& number : result.numbers) {
    std::vector<std::string> row{number.what, cell_of(number.published)};
    if (expects) row.push_back(cell_of(number.expected));
    row.push_back(cell_of(number.found) +
                  (number.standard_error ? " ± " + format_number(*number.standard_error, 2) : ""));
    row.push_back(number.apart);
    table.rows.push_back(std::move(row));
  }
  print(out, table);
  out << '\n';
  print_notes(out, result.notes, 2);
}

void run_paper(const PaperOptions& options, const Console& console) {
  if (options.name == list_name) {
    if (!options.output.empty()) throw UsageError("-o needs the name of a figure, not 'list'");
    if (options.json) return print(console.out, list_json());
    return print_list(console.out);
  }
  const PaperFigure& figure = find_paper_figure(options.name);
  if (options.longest && !figure.timed)
    throw UsageError("--longest is of " + timed_figures() + "; " + figure.id +
                     " has no such length");
  if (!options.model.what.empty() && !figure.reads_model)
    throw UsageError("--model is for replaced-layers; " + figure.id + " runs no model");
  const std::string model =
      options.model.what.empty() ? standard_example() : options.model.address();
  if (figure.reads_model && !is_model_address(model))
    throw UsageError((options.model.what.empty()
                          ? "the bundled model was not installed with Fovea"
                          : "--model " + fovea::quoted(options.model.what) + " is no model") +
                     std::string("; expected --model with --text or --input"));
  if (!options.output.empty()) {
    check_figure_name(options.output);
    require_writable(options.output);
  }
  const Painting painting;  // also needed to find the example
  const Source example = open_source(captured_example());
  const auto backend = options.backend.make(console.err);
  Profile profile;
  Progress progress;
  Run run{profile, console.stop, &progress};
  PaperResult result;
  {
    const ProgressLine told(progress, console.err);
    result =
        figure.make({*backend, example, options.longest.value_or(standard_longest), model}, run);
  }
  const Backend& used = result.backend ? *result.backend : *backend;
  if (!options.output.empty()) {
    Figure drawn{
        .title = figure.title,
        .footer = figure.paper + ", computed by Fovea; " + used.device() + ", " + used.precision(),
        .rows = result.rows};
    drawn.style.width = paper_width * points_per_inch;
    if (!options.no_session) drawn.recipe.command = command_line(console.words, options.output);
    write_figure(options.output, drawn);
  }
  if (options.json)
    print(console.out, result_json(figure, result, used));
  else
    print_result(console.out, figure, result);
}

}  // namespace

void add_paper_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "paper", "Figures and numbers of the papers, computed again beside what the papers state");
  auto options = std::make_shared<PaperOptions>();
  command->add_option("NAME", options->name, "A figure, or list")->capture_default_str();
  command
      ->add_option("--longest", options->longest,
                   "Of " + timed_figures() +
                       ": the longest head, in tokens (default 16384; tree-time: at most 8192); "
                       "131072 takes minutes")
      ->check(CLI::Range(Index{256}, Index{1} << 20));
  command
      ->add_option("--model", options->model.what,
                   "The model of replaced-layers (default: the bundled one), with what it reads")
      ->check(refuse_empty);
  options->model.add_model_to(*command);
  options->backend.add_to(*command);
  command->add_option("-o,--output", options->output, "Write the figure: .png, .svg, .pdf or .pgf")
      ->check(refuse_empty);
  add_no_session(*command, options->no_session);
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_paper(*options, console); };
  });
}

}  // namespace fovea
