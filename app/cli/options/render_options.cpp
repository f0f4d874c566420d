#include "cli/options/render_options.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "cli/options/checks.h"
#include "cli/options/figure_names.h"
#include "cli/options/length.h"
#include "cli/options/preset_list.h"
#include "data/error.h"
#include "data/utf8.h"
#include "drawing/colormap.h"
#include "figure/preset.h"
#include "input/content_hash.h"
#include "report/text_table.h"
#include "views/views.h"

namespace fovea {
namespace {

/// The name `list` prints the table of all presets and ends the command line, as --help does.
std::string check_preset(const std::string& name) {
  if (name == "list") {
    std::ostringstream out;
    print_presets(out);
    throw CLI::CallForVersion(out.str(), 0);
  }
  if (preset_named(name)) return {};
  return "unknown preset '" + name + "'; expected list or one of " + preset_names();
}

constexpr const char* group = "How it looks";

/// Adds --NAME and --no-NAME.
void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value,
                const std::string& on_words, const std::string& off_words) {
  auto* on = command.add_flag_callback(
      "--" + name, [&value] { value = true; }, on_words);
  on->group(group);
  command
      .add_flag_callback(
          "--no-" + name, [&value] { value = false; }, off_words)
      ->excludes(on)
      ->group(group);
}

/// "--rank-leaf" of the field rank_leaf.
std::string option_of(const Field& field) {
  std::string name = "--" + field.id;
  std::ranges::replace(name, '_', '-');
  return name;
}

void add_field(CLI::App& command, RenderOptions& options, const Field& field) {
  CLI::Option* option =
      command
          .add_option_function<std::string>(
              option_of(field),
              [&options, id = field.id](const std::string& text) { options.of_views[id] = text; },
              field.meaning)
          ->default_str(to_text(field.standard))
          ->group(group);
  if (!field.choices.empty())
    option->check(CLI::IsMember(field.choices));
  else
    option->type_name(std::holds_alternative<double>(field.standard) ? "X" : "N");
}

bool has_content(const Source& source, const std::string& hash, const std::stop_token& stop) {
  try {
    return content_hash_of(source.files, stop).is(hash);
  } catch (const ChangedError&) {
    return false;
  }
}

InputError refusal_of_elsewhere(const std::string& path, const std::string& file,
                                const std::string& why) {
  return {path, "its session shows " + file + " from another folder, " + why +
                    ": it may have been written to show you a file of yours. If you want to see "
                    "it, open " +
                    file + " itself, or put it into the folder of " + path};
}

}  // namespace

void take_up(RenderOptions& options, const SessionFile& file, const CLI::App& command) {
  const Session& session = file.session;
  const auto left_open = [&](const char* name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return !option || option->count() == 0;
  };
  options.source.what = session.source;
  if (left_open("--patch")) options.source.open.patch = session.patch;
  options.settings = session.settings;
  if (!left_open("--colormap"))
    options.settings.colormap = command.get_option("--colormap")->as<std::string>();
  if (left_open("--norm")) options.norm = to_text(session.settings.norm);
  if (left_open("--pool")) options.pool = session.settings.pool == Pool::Kind::max ? "max" : "mean";
  if (left_open("--layer")) options.heads.layer_index = session.layer;
  if (left_open("--head")) options.heads.head = std::to_string(session.head);
  options.heads.conditions = options.heads.conditions.or_else(session.conditions);
  if (left_open("--view")) {
    options.views.clear();
    for (const View view : session.views) options.views.push_back(to_text(view));
  }
  options.session = session;
  if (!left_open("--variant")) options.session->columns.clear();
  if (!left_open("--seed"))
    for (Column& column : options.session->columns) column.seed = options.parameters.seed;
  const bool same_head = left_open("--layer") && left_open("--head") && left_open("--patch") &&
                         options.heads.conditions == session.conditions;
  if (same_head && options.session->columns == session.columns) options.trees = file.trees;
  if (options.no_session)
    for (ColumnTree& tree : options.trees)
      if (!tree.learned_on.empty()) tree.learned_on = "another head or text";
}

Source load_source(RenderOptions& options, const CLI::App& command, const Console& console) {
  const std::string path = options.source.what;
  if (!is_session_file(path)) {
    Source source = options.source.load(console.stop, options.backend.threads);
    options.heads.tell_layer(source, console.err);
    return source;
  }
  const SessionFile file = read_session(path);
  require_source(path, file);
  const ContentElsewhere elsewhere = content_elsewhere(path, file);
  if (!elsewhere.unknown.empty())
    throw refusal_of_elsewhere(path, elsewhere.unknown, "and does not state its SHA-256");
  for (const std::string& one : files_of(file.session))
    print_note(console.err, path + ": its session reads " + one);
  take_up(options, file, command);
  Source source = options.source.load(console.stop, options.backend.threads);
  check_session(file.session, source);
  options.heads.tell_layer(source, console.err);
  if (file.content_hash.empty() || has_content(source, file.content_hash, console.stop))
    return source;
  if (elsewhere.needs_hash)
    throw refusal_of_elsewhere(path, files_of(file.session).front(),
                               "whose SHA-256 is not " + file.content_hash);
  print_note(console.err, file.session.source + ": its content has changed since the session of " +
                              path + " was saved");
  options.trees.clear();  // they were learned on other content
  return source;
}

std::string session_text(const Session& session, const RenderOptions& options,
                         const std::string& content_hash) {
  SessionFile file;
  file.session = session;
  file.content_hash = content_hash;
  file.trees = options.trees;
  return text_for_figure(std::move(file));
}

FigureStyle style_of(const RenderOptions& options) {
  FigureStyle style;
  style.dpi = options.dpi;
  style.captions = Captions::line;
  if (const Preset* preset = preset_named(options.preset)) put_into(style, *preset);
  if (options.width) style.width = points_of("--width", *options.width, options.dpi);
  if (!options.height.empty()) style.height = points_of("--height", options.height, options.dpi);
  if (options.font_size > 0) style.font_size = options.font_size;
  if (!options.font.empty()) style.font = installed_font(options.font);
  style.letters = options.letters;
  if (options.captions)
    style.captions =
        Captions(std::ranges::find(caption_ids, *options.captions) - std::begin(caption_ids));
  style.footer = options.footer.value_or(style.footer);
  style.empty_panels = options.empty_panels.value_or(style.empty_panels);
  style.row_names = options.row_names.value_or(style.row_names);
  style.settings = options.settings;
  return style;
}

std::vector<Column> columns_of(const RenderOptions& options, const Problem& head) {
  std::vector<Column> columns;
  if (options.session) columns = options.session->columns;
  if (columns.empty())
    for (const Variant* variant : variants_named(
             options.variants.empty() ? std::vector<std::string>{"papers"} : options.variants,
             &head))
      columns.push_back(
          {variant->id, values_for_length(*variant, head.keys()), options.parameters.seed});
  options.parameters.apply_to(columns);
  return columns;
}

std::optional<Session> session_of(const RenderOptions& options, const Source& source,
                                  std::vector<Column> columns, Lengths lengths) {
  const OpenOptions& open = options.source.open;
  const bool read_specially = !options.source.layout.empty() || !open.tensors.empty() ||
                              !open.kept.empty() || open.one_token_per_line || open.as_bfloat16 ||
                              open.max_side > 0;
  if (read_specially) return {};
  Session standard = standard_session(source.path, lengths.keys);
  standard.viewport = whole(lengths);
  Session session = options.session.value_or(standard);
  session.source = source.path;
  session.patch = open.patch;
  session.layer = options.heads.layer_in(source);
  session.head = options.heads.heads_in(source).front();
  session.conditions = options.heads.conditions;
  session.columns = columns.empty() ? standard.columns : std::move(columns);
  session.settings = options.settings;
  session.views.clear();
  for (const auto& view : options.views)
    if (const auto one = view_from(view)) session.views.push_back(*one);
  if (session.views.empty()) session.views = {weights_view()};  // for times alone
  const Viewport& seen = session.viewport;
  if (!(seen.row_begin < seen.row_end && seen.col_begin < seen.col_end))
    session.viewport = whole(lengths);
  return session;
}

void describe_sessions(CLI::App& command) {
  CLI::Option* source = command.get_option("SOURCE");
  source->description(source->get_description() +
                      "; or a session (.fovea.json), or a figure or report that carries one");
}

std::string hash_to_write(const Source& source, const Console& console) {
  try {
    return content_hash_of(source.files, console.stop).text();
  } catch (const InputError& error) {
    print_note(console.err,
               error.what() + std::string(". What is written has no hash of its content."));
    return "";
  }
}

void add_look(CLI::App& command, RenderOptions& options) {
  command
      .add_option(
          "--width", options.width,
          "Width in in, cm, mm, pt or px (default: 3.5in, or 7in for more than three columns)")
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
      .add_option(
          "--preset", options.preset,
          "Width and letters of a venue, such as neurips or icml, and what an author keeps of "
          "a figure; list shows them all")
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
      ->check(number_from(3, 96))
      ->type_name("PT")
      ->group(group);
  add_no_session(command, options.no_session);
  command.get_option("--no-session")->group(group);
  command
      .add_option("--made-by", options.made_by,
                  "What makes the figure, written into the file in place of session and command")
      ->excludes("--no-session")
      ->group(group);
  command
      .add_option("--captions", options.captions,
                  "What stands below the panels: nothing, the first statement where it fits on few "
                  "lines, or all (default: line)")
      ->check(
          CLI::IsMember(std::vector<std::string>(std::begin(caption_ids), std::end(caption_ids))))
      ->group(group);
  add_switch(command, "footer", options.footer,
             "Source, head, length and device below everything (default without a preset)",
             "No such line (default with a preset)");
  add_switch(command, "empty-panels", options.empty_panels,
             "Draw panels that only say why there is nothing to see (default without a preset)",
             "Leave their places white (default with a preset)");
  add_switch(command, "row-names", options.row_names,
             "The names of the views at the left (default with a preset)",
             "No such names (default without a preset)");
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
  command
      .add_option("--pool", options.pool,
                  "What a pixel shows of several entries: their mean, with dots at large ones, or "
                  "the largest")
      ->check(CLI::IsMember({"mean", "max"}))
      ->capture_default_str()
      ->group(group);
  for (const auto& [view, field] : view_fields()) add_field(command, options, field->field);
}

}  // namespace fovea
