// RenderOptions say what `fovea render` draws and how; a session given as SOURCE fills in what the
// command line leaves open.
#pragma once

#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "figure/figure.h"
#include "input/session_file.h"

namespace fovea {

inline constexpr const char* timing_view =
    "timing";  // not a View: the window shows timing in a dock

struct RenderOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants, views{"heatmap"};
  std::string data;  // where the numbers of the panels go; empty if nowhere
  std::string output, height, title, preset, font;
  std::string made_by;               // what the file says in place of the session and the command
  std::optional<std::string> width;  // the default comes from the preset or the number of columns
  double font_size = 0;              // 0 means that of the preset
  bool letters = false, no_session = false;
  // The defaults of these come from the preset.
  std::optional<std::string> captions;
  std::optional<bool> footer, empty_panels, row_names;
  int dpi = 300;
  bool estimate = false;
  ViewSettings settings;
  std::string norm = "log", pool = "mean";
  std::map<std::string, std::string> of_views;  // given settings of views, by the ids of fields
  std::optional<Session>
      session;  // of a session file given as SOURCE: values that the command line does not set
  /// Learned trees of the columns: of the session, if it shows the same head of the same content;
  /// then those that the figure shows.
  std::vector<ColumnTree> trees;
};

/// Takes from the session everything that the command line does not set.
void take_up(RenderOptions& options, const SessionFile& file, const CLI::App& command);
/// The source. If it is given by a session, by a figure or by a report, takes that session up.
Source load_source(RenderOptions& options, const CLI::App& command, const Console& console);
/// Says in the help of SOURCE that it may be one of those.
void describe_sessions(CLI::App& command);
/// What a figure or report carries: the session, with the trees that its columns were given.
std::string session_text(const Session& session, const RenderOptions& options,
                         const std::string& content_hash);
FigureStyle style_of(const RenderOptions& options);
/// The columns of the session, or of the command line's variants, with the --set values applied.
std::vector<Column> columns_of(const RenderOptions& options, const Problem& head);
/// The session that a figure of these columns carries; nothing if a session cannot say how the
/// source is read.
std::optional<Session> session_of(const RenderOptions& options, const Source& source,
                                  std::vector<Column> columns, Lengths lengths);
/// The hash of the source's content for a file; empty, with a note, if the source has changed since
/// it was opened.
std::string hash_to_write(const Source& source, const Console& console);
void add_look(CLI::App& command, RenderOptions& options);

}  // namespace fovea
