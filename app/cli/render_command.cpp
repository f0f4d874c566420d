// fovea render: writes the panels of variants and views as a figure.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "cli/commands.h"
#include "cli/length.h"
#include "cli/options.h"
#include "cli/painting.h"
#include "cli/panel_grid.h"
#include "cli/preset_list.h"
#include "cli/report.h"
#include "data/error.h"
#include "drawing/colormap.h"
#include "figure/figure.h"
#include "figure/preset.h"
#include "input/content_hash.h"
#include "input/session_file.h"
#include "io/atomic_file.h"
#include "session/held_head.h"

namespace fovea {
namespace {

constexpr const char* timing_view = "timing";  // not a View: the window shows timing in a dock

struct Options {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants, views{"heatmap"};
  std::string output, width = "3.5in", height, title, preset, font;
  double font_size = 0;  // 0: of the preset
  bool letters = false;
  int dpi = 300;
  bool estimate = false;
  ViewSettings settings;
  std::string norm = "log", error = "signed";
  std::optional<Session>
      session;  // of a session file given as SOURCE: values that the command line does not set
};

/// Takes from the session whatever the command line does not set.
void take_up(Options& options, const Session& session, const CLI::App& command) {
  const auto left_open = [&](const char* name) { return command.count(name) == 0; };
  options.source.what = session.source;
  if (left_open("--patch")) options.source.open.patch = session.patch;
  options.settings = session.settings;
  if (!left_open("--colormap"))
    options.settings.colormap = command.get_option("--colormap")->as<std::string>();
  if (left_open("--norm")) options.norm = to_text(session.settings.norm);
  if (left_open("--error")) options.error = to_text(session.settings.error);
  if (left_open("--layer")) options.heads.layer_index = session.layer;
  if (left_open("--head")) options.heads.head = std::to_string(session.head);
  if (left_open("--scale")) options.heads.scale = session.scale;
  if (left_open("--window")) options.heads.window = session.window;
  if (left_open("--softcap")) options.heads.soft_cap = session.soft_cap;
  if (left_open("--causal") && left_open("--no-causal") && session.causal) {
    options.heads.causal = *session.causal;
    options.heads.no_causal = !*session.causal;
  }
  if (left_open("--view")) {
    options.views.clear();
    for (const View view : session.views) options.views.push_back(to_text(view));
  }
  options.session = session;
  if (!left_open("--variant")) options.session->columns.clear();
  if (!left_open("--seed"))
    for (Column& column : options.session->columns) column.seed = options.parameters.seed;
}

Source load(Options& options, const CLI::App& command, const Console& console) {
  const std::string path = options.source.what;
  if (!is_session_file(path)) return options.source.load();
  const SessionFile file = read_session(path);
  take_up(options, file.session, command);
  Source source = options.source.load();
  check_session(file.session, source);
  if (!file.content_hash.empty() && content_hash_of(file.session.source) != file.content_hash)
    console.err << "note: " << file.session.source
                << ": its content has changed since the session was saved\n";
  return source;
}

void check_estimate(const Options& options) {
  for (const char* view : {"output", "timing"})
    if (options.estimate && std::ranges::find(options.views, view) != options.views.end())
      throw UsageError(std::string("--view ") + view +
                       " needs exact attention of all rows: leave out --estimate");
}

/// Reports every mistake that can be found before anything is computed.
void check(const Options& options) {
  check_figure_name(options.output);
  variants_named(options.variants);
  for (const auto& view : options.views)
    if (view != timing_view && !view_from(view))
      throw UsageError(
          "unknown view '" + view +
          "'; expected heatmap, error, mask, reach, rank, level, tree, row, output, cost or "
          "timing");
  check_estimate(options);
  require_writable(options.output);
}

FigureStyle style_of(const Options& options, const CLI::App& command) {
  FigureStyle style;
  style.dpi = options.dpi;
  const Preset* preset = preset_named(options.preset);
  if (preset) put_into(style, *preset);
  if (!preset || command.count("--width") > 0)
    style.width = points_of("--width", options.width, options.dpi);
  if (!options.height.empty()) style.height = points_of("--height", options.height, options.dpi);
  if (options.font_size > 0) style.font_size = options.font_size;
  if (!options.font.empty()) style.font = installed_font(options.font);
  style.letters = options.letters;
  style.settings = options.settings;
  return style;
}

/// No more pixels are computed than the figure can show. Files of vectors are looked at enlarged.
Index pixels_of_a_panel(const Options& options, const FigureStyle& style, std::size_t columns) {
  const Index least = options.output.ends_with(".png") ? 64 : 512;
  const double across = style.width / points_per_inch * style.dpi /
                        static_cast<double>(std::max<std::size_t>(1, columns));
  return std::clamp<Index>(static_cast<Index>(across), least, 2048);
}

/// The columns of the session, or of the command line's variants, with the --set values applied.
std::vector<Column> columns_of(const Options& options, const Problem& head) {
  std::vector<Column> columns;
  if (options.session) columns = options.session->columns;
  if (columns.empty())
    for (const Variant* variant : variants_named(
             options.variants.empty() ? std::vector<std::string>{"papers"} : options.variants,
             &head))
      columns.push_back(
          {variant->id, values_for_length(*variant, head.n()), options.parameters.seed});
  options.parameters.apply_to(columns);
  return columns;
}

std::string head_text(const Options& options, const Source& source) {
  return source.name + ", " + layer_label(source, options.heads.layer_in(source)) + ", head " +
         options.heads.head;
}

/// The heads that columns of the session hold.
std::vector<std::shared_ptr<const HeldProblem>> held_problems(const Options& options,
                                                              const std::vector<Column>& columns,
                                                              const Source& source, Index n) {
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
    const Source its = held.source.empty() ? source : open_source(held.source, options.source.open);
    Session session = *options.session;
    session.scale = options.heads.scale;
    session.window = options.heads.window;
    session.soft_cap = options.heads.soft_cap;
    session.causal = options.heads.chosen_causal();
    HeadChoice choice = choice_of(held, session);
    choice.allow_non_finite = options.heads.allow_non_finite;
    const auto problem =
        std::make_shared<const HeldProblem>(HeldProblem{held, its, problem_of(its, choice)});
    require_tokens(problem->problem, its, held, n);
    problems[c] = problem;
  }
  return problems;
}

std::vector<std::vector<Panel>> panels_of(const Options& options, const Source& source,
                                          const Console& console, Run& run, Figure& figure) {
  const FigureStyle& style = figure.style;
  const Index head = options.heads.heads_in(source).front();
  const Problem problem = options.heads.problem(source, head);
  tell_left_out(options.variants, problem, console.err);
  const auto backend = options.backend.make();
  const std::vector<Column> columns = columns_of(options, problem);
  const PanelGrid grid({.problem = problem,
                        .source = source,
                        .layer = options.heads.layer_in(source),
                        .backend = *backend,
                        .settings = options.settings,
                        .columns = columns,
                        .held = held_problems(options, columns, source, problem.n()),
                        .viewport = options.session ? options.session->viewport : Viewport{},
                        .query = options.session ? options.session->pinned_query : std::nullopt,
                        .max_pixels = pixels_of_a_panel(options, style, columns.size()),
                        .estimate = options.estimate},
                       run);
  figure.footer = head_text(options, source) + ", n = " + std::to_string(problem.n()) +
                  ", d = " + std::to_string(problem.d()) + (problem.causal ? ", causal; " : "; ") +
                  backend->device() + ", " + backend->precision();
  std::vector<std::vector<Panel>> rows;
  for (const auto& view : options.views)
    rows.push_back(view == timing_view ? grid.timings(run) : grid.row(*view_from(view), run));
  return rows;
}

/// For a source that holds an attention matrix without Q and K: its heatmap and its rank map.
std::vector<std::vector<Panel>> panels_of_matrix(const Options& options, const Source& source,
                                                 const FigureStyle& style, Run& run) {
  const auto only = [&](const std::string& what) {
    return InputError(source.path, "holds only an attention matrix: " + what +
                                       " needs Q and K; the views heatmap and rank do not");
  };
  if (!options.variants.empty()) throw only("--variant " + options.variants.front());
  const Layer& layer = source.layers[static_cast<std::size_t>(options.heads.layer_in(source))];
  const Matrix attention = layer.attention.read(options.heads.heads_in(source).front());
  const Viewport seen = options.session ? options.session->viewport : Viewport{};
  const auto backend = options.backend.make();
  std::vector<std::vector<Panel>> rows;
  for (const auto& view : options.views) {
    if (view != "heatmap" && view != "rank") throw only("--view " + view);
    Panel panel = make_matrix_panel(*view_from(view), attention, options.settings,
                                    visible_tokens(seen.row_begin, seen.row_end, attention.rows()),
                                    visible_tokens(seen.col_begin, seen.col_end, attention.cols()),
                                    pixels_of_a_panel(options, style, 1), *backend, run);
    panel.title = source.name;
    rows.push_back({std::move(panel)});
  }
  return rows;
}

void run_render(Options options, const CLI::App& command, const Console& console) {
  check(options);
  const Painting painting;
  const Source source = load(options, command, console);
  check_estimate(options);  // a session has views of its own
  options.settings.norm = *norm_from(options.norm);
  options.settings.error = *error_kind_from(options.error);
  Figure figure{.title = options.title,
                .style = style_of(options, command),
                .sequence = std::make_shared<const Sequence>(
                    sequence_of(source, options.heads.layer_in(source))),
                .pinned_query = options.session ? options.session->pinned_query : std::nullopt};
  Profile profile;
  Run run{profile, console.stop};
  if (!source.layers[static_cast<std::size_t>(options.heads.layer_in(source))].has_qkv()) {
    figure.rows = panels_of_matrix(options, source, figure.style, run);
    figure.footer = head_text(options, source);
  } else {
    figure.rows = panels_of(options, source, console, run, figure);
  }
  run.check();
  write_figure(options.output, figure);
  for (const auto& note : notes_of(source)) console.err << "note: " << note << '\n';
}

/// The name `list` ends the command line with the table of all, as --help does with its own.
std::string check_preset(const std::string& name) {
  if (name == "list") {
    std::ostringstream out;
    print_presets(out);
    throw CLI::CallForVersion(out.str(), 0);
  }
  if (preset_named(name)) return {};
  return "unknown preset '" + name + "'; expected list or one of " + preset_names();
}

void add_look(CLI::App& command, Options& options) {
  const std::string group = "How it looks";
  command.add_option("--width", options.width, "Width in in, cm, mm, pt or px")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--height", options.height, "Height, as --width (default: what the panels need)")
      ->group(group);
  command
      .add_option("--dpi", options.dpi,
                  "Dots per inch of PNG files and of images inside SVG and PDF files")
      ->check(CLI::Range(10, 2400))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--preset", options.preset,
                  "Width and letters of a venue, such as neurips or icml; list shows them all")
      ->check(check_preset)
      ->type_name("NAME")
      ->group(group);
  command.add_option("--font", options.font, "A font that is installed (default: DejaVu Sans)")
      ->check(refuse_empty)
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--font-size", options.font_size,
                  "Points of titles as printed; with a preset the other letters are smaller "
                  "(default: 7, or of the preset)")
      ->check(CLI::Range(3.0, 96.0))
      ->type_name("PT")
      ->group(group);
  command.add_flag("--letters", options.letters, "(a), (b), ... at the panels")->group(group);
  command.add_option("--title", options.title, "A line above everything")->group(group);
  command.add_option("--colormap", options.settings.colormap, "Colour map of the weights")
      ->check(CLI::IsMember(colormap_ids()))
      ->capture_default_str()
      ->group(group);
  command.add_option("--norm", options.norm, "How weights become colours")
      ->check(CLI::IsMember({"linear", "log", "row-max"}))
      ->capture_default_str()
      ->group(group);
  command.add_option("--error", options.error, "Which error the error view shows")
      ->check(CLI::IsMember({"signed", "absolute", "squared", "relative", "log10"}))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_render_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "render", "Write panels of variants and views, or of a saved session, as PNG, SVG or PDF");
  auto options = std::make_shared<Options>();
  options->source.add_to(*command);
  command
      ->add_option("--variant", options->variants,
                   "A column, or papers, baselines, all; may be repeated (default: papers)")
      ->allow_extra_args(false)
      ->type_name("ID");
  command
      ->add_option("--view", options->views,
                   "A row; may be repeated: heatmap, error, mask, reach, rank, level, tree, row, "
                   "output, cost, timing")
      ->allow_extra_args(false)
      ->type_name("VIEW")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "A file ending in .png, .svg or .pdf")
      ->check(refuse_empty)
      ->required();
  command->add_flag(
      "--estimate", options->estimate,
      "For heads longer than 8192 tokens: estimate heatmaps and error maps from a few "
      "token rows of each pixel row, and label them so");
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
