// fovea report: a document of one head, for print or a browser.
#include "cli/commands/commands.h"
#include "cli/options/checks.h"
#include "cli/options/command_line.h"
#include "cli/options/figure_names.h"
#include "cli/options/render_options.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "input/painting.h"
#include "io/atomic_file.h"
#include "report/head_pages.h"
#include "report/text_table.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct ReportOptions : RenderOptions {
  ReportOptions() { views = {"heatmap", "error", "mask"}; }
};

/// The columns of a report, which is about one head; `notes` says what it leaves out.
std::vector<Column> columns_of_head(const ReportOptions& options, const Problem& problem,
                                    std::vector<std::string>& notes) {
  std::vector<Column> columns = columns_of(options, problem);
  for (const Column& column : columns)
    if (column.held)
      notes.push_back("left out: " + find_variant(column.variant).label +
                      " (it shows another head)");
  std::erase_if(columns, [](const Column& column) { return column.held.has_value(); });
  return with_exact_first(std::move(columns));
}

void run_report(ReportOptions options, const CLI::App& command, const Console& console) {
  check_pages_name(options.output);
  variants_named(options.variants);
  require_writable(options.output);
  const Painting painting;
  const std::string opened = options.source.what;
  Source source = load_source(options, command, console);
  refuse_to_replace("-o", options.output, source, {opened});
  const Index layer = options.heads.layer_in(source);
  if (!source.layers[layer].has_qk())
    throw InputError(source.path,
                     "holds only an attention matrix: a report compares variants, which need Q "
                     "and K; 'fovea render' draws the matrix");
  const Index head = options.heads.heads_in(source).front();
  const Problem problem = options.heads.problem(source, head, console.stop);
  tell_left_out(options.variants, problem, console.err);
  const auto backend = options.backend.make(console.err);
  std::vector<std::string> notes = notes_of(source, {layer});
  const std::vector<Column> columns = columns_of_head(options, problem, notes);
  if (options.session) {
    options.trees = moved_trees(std::move(options.trees), options.session->columns, columns);
    options.settings.ranges = with_moved_columns(options.settings.ranges, [&](std::size_t column) {
      return moved_column(options.session->columns, columns, column);
    });
  }
  Profile profile;
  Run run{profile, console.stop};
  const PanelGrid grid({.problem = problem,
                        .source = source,
                        .layer = layer,
                        .backend = *backend,
                        .settings = options.settings,
                        .columns = columns,
                        .trees = options.trees,
                        .viewport = {},
                        .query = options.session ? options.session->pinned_query : std::nullopt,
                        .max_pixels = report_pixels},
                       run);
  print_notes(console.err, grid.notes());
  options.trees = grid.trees();
  Recipe recipe;
  std::string hash;
  if (options.no_session) {
    source.name.clear();
  } else {
    recipe.command =
        command_line(console.words, options.output, options.session ? "again" : "report");
    hash = hash_to_write(source, console);
    if (const auto session = session_of(options, source, columns, problem.lengths()))
      recipe.session = session_text(*session, options, hash);
  }
  write_pages(options.output, head_pages({.grid = grid,
                                          .problem = problem,
                                          .source = source,
                                          .path = options.no_session ? "" : source.path,
                                          .layer = layer,
                                          .head = head,
                                          .backend = *backend,
                                          .columns = columns,
                                          .settings = options.settings,
                                          .content_hash = hash,
                                          .notes = notes,
                                          .recipe = recipe},
                                         run));
}

}  // namespace

void add_report_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "report",
      "Write a document of one head: its variants side by side, their errors, cost and "
      "time, and how to compute them again");
  auto options = std::make_shared<ReportOptions>();
  options->source.add_to(*command);
  describe_sessions(*command);
  add_columns(*command, options->variants);
  command->add_option("-o,--output", options->output, "A file ending in .pdf or .html")
      ->check(refuse_empty)
      ->required();
  add_no_session(*command, options->no_session);
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "0", false);
  options->backend.add_to(*command);
  command->callback([&chosen, options, command] {
    chosen = [options, command](const Console& console) {
      run_report(*options, *command, console);
    };
  });
}

}  // namespace fovea
