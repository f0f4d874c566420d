// A session file is a Session as JSON, with the hash of its source's content. Figures and reports
// carry one.
#pragma once

#include <string>
#include <vector>

#include "data/source.h"
#include "input/sort_orders.h"
#include "session/column_tree.h"
#include "session/session.h"

namespace fovea {

/// Each column takes about a megabyte of the window's memory.
inline constexpr std::size_t most_session_columns = 128;

struct SessionFile {
  Session session;
  std::string content_hash;  // SHA-256 of the source, hexadecimal; empty if it has no file
  std::string layout;        // of the window's docks, base64; empty means as they are
  bool directory = false;    // the source was one when the file was written
  int selected_column = 0;
  SortOrders orders = {};
  /// Learned trees of columns, by column. At most 2 MiB of them are written.
  std::vector<ColumnTree> trees = {};
};

/// As JSON.
std::string text_of(const SessionFile& file);
/// What a figure or a report carries: without what it does not show, which are its layout and the
/// file on which trees are validated.
std::string text_for_figure(SessionFile file);
/// Throws InputError naming the file, what was found and what was expected.
SessionFile session_from(const std::string& path, const std::string& text);

/// Written to a temporary name, then renamed. Throws UnavailableError.
void write_session(const std::string& path, const SessionFile& file);
/// Reads a session file, or a figure or report that carries its session. Throws InputError, also if
/// it carries none.
SessionFile read_session(const std::string& path);
/// Whether the file is to be opened as a session: a session file, a figure or report of Fovea, or
/// any PDF. Other pictures, texts and JSON are sources.
bool is_session_file(const std::string& path);
/// The part of a session's source that is no longer there: its file, or the folder of its model;
/// empty if all is there.
std::string missing_of(const std::string& source);
/// The source with another file, or folder, in the place of the one that was missing.
std::string with_found(const std::string& source, const std::string& missing,
                       const std::string& found);
bool is_source_there(const std::string& source);
/// The files that a session reads: its source, and those of heads that its columns hold.
std::vector<std::string> files_of(const Session& session);
/// Content that the writer of a session may not know: words and pictures outside the folder of the
/// session's own file `path`.
struct ContentElsewhere {
  std::string unknown;      // a file whose SHA-256 the session does not state; empty if none
  bool needs_hash = false;  // the source is such a file: it has to have the SHA-256 that is stated
};
ContentElsewhere content_elsewhere(const std::string& path, const SessionFile& file);
/// Throws InputError, naming the session's own file, if its source is no longer there.
void require_source(const std::string& path, const SessionFile& file);
/// Throws InputError if the source does not have the session's layer or head.
void check_session(const Session& session, const Source& source);

}  // namespace fovea
