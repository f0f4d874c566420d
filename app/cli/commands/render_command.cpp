// fovea render: writes the panels of variants and views as a figure.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/options/checks.h"
#include "cli/options/command_line.h"
#include "cli/options/figure_names.h"
#include "cli/options/render_options.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "data/text.h"
#include "figure/figure.h"
#include "figure/pgf_file.h"
#include "input/painting.h"
#include "io/atomic_file.h"
#include "report/panel_grid.h"
#include "report/panel_numbers.h"
#include "report/text_table.h"
#include "session/held_head.h"
#include "views/views.h"

namespace fovea {
namespace {

void check_estimate(const RenderOptions& options) {
  for (const std::string& name : options.views) {
    const auto view = view_from(name);
    if (options.estimate && (name == timing_view || (view && (*view)->needs_outputs)))
      throw UsageError("--view " + name +
                       " needs exact attention of all rows: leave out --estimate");
  }
}

/// Reports every mistake that can be found before anything is computed.
void check(const RenderOptions& options) {
  check_figure_name(options.output);
  variants_named(options.variants);
  for (const auto& view : options.views)
    if (view != timing_view && !view_from(view))
      throw UsageError("unknown view '" + view + "'; expected " + names_of(all_views()) + " or " +
                       timing_view);
  check_estimate(options);
  require_writable(options.output);
  if (!options.data.empty()) check_numbers_name(options.data, options.views.size());
}

/// Computes no more pixels than the figure can show. People enlarge vector files.
Index pixels_of_a_panel(const RenderOptions& options, const FigureStyle& style,
                        std::size_t columns) {
  const Index least = options.output.ends_with(".png") ? 64 : 512;
  const double across = style.width / points_per_inch * style.dpi /
                        static_cast<double>(std::max<std::size_t>(1, columns));
  return std::clamp<Index>(static_cast<Index>(across), least, 2048);
}

/// In points: the width of one column of a page, or of two if panels would be narrower than 60
/// points.
double usual_width(std::size_t columns) {
  return (columns > 3 ? 7 : 3.5) * points_per_inch;
}

std::string head_text(const RenderOptions& options, const Source& source) {
  return named(source.name, layer_label(source, options.heads.layer_in(source)) + ", head " +
                                options.heads.head);
}

/// The heads that columns of the session hold.
std::vector<std::shared_ptr<const HeldProblem>> held_problems(const RenderOptions& options,
                                                              const std::vector<Column>& columns,
                                                              const Source& source, Lengths lengths,
                                                              const std::stop_token& stop) {
  std::vector<std::shared_ptr<const HeldProblem>> problems(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].held) continue;
    const HeldHead& held = *columns[c].held;
    const auto known = std::ranges::find_if(
        problems, [&](const auto& problem) { return problem && problem->held == held; });
    if (known != problems.end()) {
      problems[c] = *known;
      continue;
    }
    OpenOptions opening = options.source.open;
    opening.stop = stop;
    Source its = held.source.empty() ? source : open_source(held.source, opening);
    if (options.no_session && !held.source.empty()) its.name = "another source";
    Session session = *options.session;
    session.conditions = options.heads.conditions;
    HeadChoice choice = choice_of(held, session);
    choice.allow_non_finite = options.heads.allow_non_finite;
    const auto problem =
        std::make_shared<const HeldProblem>(HeldProblem{held, its, problem_of(its, choice, stop)});
    require_tokens(problem->problem, its, held, lengths);
    problems[c] = problem;
  }
  return problems;
}

std::vector<std::vector<Panel>> panels_of(RenderOptions& options, const Source& source,
                                          const Console& console, Run& run, Figure& figure,
                                          std::optional<Session>& session) {
  const Index head = options.heads.heads_in(source).front();
  const Problem problem = options.heads.problem(source, head, run.stop);
  tell_left_out(options.variants, problem, console.err);
  const auto backend = options.backend.make(console.err);
  const std::vector<Column> columns = columns_of(options, problem);
  if (options.session) {
    options.trees = moved_trees(std::move(options.trees), options.session->columns, columns);
    options.settings.ranges = with_moved_columns(options.settings.ranges, [&](std::size_t column) {
      return moved_column(options.session->columns, columns, column);
    });
  }
  if (!options.width && options.preset.empty()) figure.style.width = usual_width(columns.size());
  session = session_of(options, source, columns, problem.lengths());
  if (!options.data.empty())
    check_numbers_name(options.data, columns.size() * options.views.size());
  const auto held = held_problems(options, columns, source, problem.lengths(), run.stop);
  for (const auto& its : held) {
    using Tokens = std::shared_ptr<const Sequence>;
    const auto layer = its ? its->held.layer : 0;
    figure.held_sequence.push_back(its ? Tokens(its, &sequence_of(its->source, layer)) : nullptr);
    figure.held_key_sequence.push_back(its ? Tokens(its, &key_sequence_of(its->source, layer))
                                           : nullptr);
  }
  const PanelGrid grid({.problem = problem,
                        .source = source,
                        .layer = options.heads.layer_in(source),
                        .backend = *backend,
                        .settings = options.settings,
                        .columns = columns,
                        .held = held,
                        .trees = options.trees,
                        .viewport = options.session ? options.session->viewport : Viewport{},
                        .query = options.session ? options.session->pinned_query : std::nullopt,
                        .max_pixels = pixels_of_a_panel(options, figure.style, columns.size()),
                        .estimate = options.estimate},
                       run);
  figure.footer = head_text(options, source) + ", " + problem.lengths().text() +
                  ", d = " + std::to_string(problem.d()) +
                  (problem.is_causal() ? ", causal; " : "; ") + backend->device() + ", " +
                  backend->precision();
  print_notes(console.err, grid.notes());
  options.trees = grid.trees();
  for (const ColumnTree& tree : options.trees)
    figure.remarks += remark_on_tree(grid.title_of(tree.column), tree.learned_on);
  std::vector<std::vector<Panel>> rows;
  for (const auto& view : options.views)
    rows.push_back(view == timing_view ? grid.timings(run) : grid.row(*view_from(view), run));
  return rows;
}

/// For a source that holds an attention matrix without Q and K: its heatmap and its rank map.
std::vector<std::vector<Panel>> panels_of_matrix(const RenderOptions& options, const Source& source,
                                                 const FigureStyle& style, const Console& console,
                                                 Run& run, std::optional<Session>& session) {
  const auto only = [&](const std::string& what) {
    return InputError(source.path, "holds only an attention matrix: " + what +
                                       " needs Q and K; of all views these do not: " +
                                       names_of(views_of_matrix()));
  };
  if (!options.variants.empty()) throw only("--variant " + options.variants.front());
  const Layer& layer = source.layers[options.heads.layer_in(source)];
  const Matrix attention = layer.attention.read(options.heads.heads_in(source).front(), run.stop);
  session = session_of(options, source, {}, layer.lengths());
  const Viewport seen = options.session ? options.session->viewport : Viewport{};
  const auto backend = options.backend.make(console.err);
  std::vector<std::vector<Panel>> rows;
  for (const auto& view : options.views) {
    const auto known = view_from(view);
    if (!known || !(*known)->of_matrix) throw only("--view " + view);
    Panel panel = make_matrix_panel(*known, attention, options.settings,
                                    visible_tokens(seen.row_begin, seen.row_end, attention.rows()),
                                    visible_tokens(seen.col_begin, seen.col_end, attention.cols()),
                                    pixels_of_a_panel(options, style, 1), *backend, run);
    panel.title = source.name;
    rows.push_back({std::move(panel)});
  }
  return rows;
}

/// The recipe in the file of the figure.
Recipe recipe_of(const std::optional<Session>& session, const RenderOptions& options,
                 const Source& source, const Console& console) {
  Recipe recipe{.session = {}, .command = command_line(console.words, options.output)};
  if (session) recipe.session = session_text(*session, options, hash_to_write(source, console));
  return recipe;
}

void run_render(RenderOptions options, const CLI::App& command, const Console& console) {
  check(options);
  const Painting painting;
  const std::string opened = options.source.what;  // perhaps a session, which names its source
  Source source = load_source(options, command, console);
  if (options.no_session) source.name.clear();
  std::vector<std::string> read{opened};
  if (options.session)
    for (const Column& column : options.session->columns)
      if (column.held && !column.held->source.empty()) read.push_back(column.held->source);
  refuse_to_replace("-o", options.output, source, read);
  refuse_to_replace("-o", pgf_body(options.output), source, read);
  refuse_to_replace("--data", options.data, source, read);
  check_estimate(options);  // checked again, as a session has views of its own
  options.settings.norm = *norm_from(options.norm);
  options.settings.pool = options.pool == "max" ? Pool::Kind::max : Pool::Kind::mean;
  for (const auto& [id, text] : options.of_views) set_value(options.settings, id, text);
  Figure figure{
      .title = options.title,
      .style = style_of(options),
      .sequence =
          std::make_shared<const Sequence>(sequence_of(source, options.heads.layer_in(source))),
      .key_sequence =
          std::make_shared<const Sequence>(key_sequence_of(source, options.heads.layer_in(source))),
      .pinned_query = options.session ? options.session->pinned_query : std::nullopt};
  std::optional<Session> session;
  Profile profile;
  Run run{profile, console.stop};
  if (!source.layers[options.heads.layer_in(source)].has_qk()) {
    figure.rows = panels_of_matrix(options, source, figure.style, console, run, session);
    figure.footer = head_text(options, source);
  } else {
    figure.rows = panels_of(options, source, console, run, figure, session);
  }
  run.check();
  require_height(options.output, figure);
  if (!options.made_by.empty())
    figure.recipe.command = options.made_by;
  else if (!options.no_session)
    figure.recipe = recipe_of(session, options, source, console);
  write_figure(options.output, figure);
  if (!options.data.empty()) {
    write_numbers(options.data, figure.rows);
    if (options.data.ends_with(".npy"))
      print_note(console.err, options.data + ": " + words_of_numbers(figure.rows[0][0]));
  }
  print_notes(console.err, notes_of(source, {options.heads.layer_in(source)}));
}

}  // namespace

void add_render_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "render",
      "Write panels of variants and views, or of a saved session, as PNG, SVG, PDF or PGF");
  auto options = std::make_shared<RenderOptions>();
  options->source.add_to(*command);
  describe_sessions(*command);
  add_columns(*command, options->variants);
  command
      ->add_option("--view", options->views,
                   "A row; may be repeated: " + names_of(all_views()) + ", " + timing_view)
      ->allow_extra_args(false)
      ->type_name("VIEW")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "A file ending in .png, .svg, .pdf or .pgf")
      ->check(refuse_empty)
      ->required();
  command->add_flag(
      "--estimate", options->estimate,
      "For heads longer than 8192 tokens: estimate heatmaps and error maps from a few "
      "token rows of each pixel row, and label them so");
  command
      ->add_option("--data", options->data,
                   "Write the numbers of the panels, too: of one panel as .csv or .npy, of several "
                   "as .json or into a directory")
      ->check(refuse_empty)
      ->type_name("FILE");
  add_look(*command, *options);
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "0", false);
  options->backend.add_to(*command);
  command->callback([&chosen, options, command] {
    chosen = [options, command](const Console& console) {
      run_render(*options, *command, console);
    };
  });
}

}  // namespace fovea
