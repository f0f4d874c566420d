// Files opens sources and sessions, and saves sessions.
#pragma once

#include "input/session_file.h"
#include "window/window_parts.h"

namespace fovea {

class Files {
 public:
  explicit Files(WindowParts& parts);

  /// A source or a session file.
  void open(const QString& what);
  void open_by_dialog();
  /// What was open when a window was last closed; false: nothing, or it is no longer there.
  bool open_last();
  /// To the file that was opened or saved last, else to one that is asked for.
  void save_session();
  void save_session_to(const QString& path);
  /// For open_last().
  void keep_last() const;

  /// Asks where a session's missing source lies now; empty: nowhere. Tests answer in its place.
  std::function<QString(const QString& missing)> ask_for_source;

 private:
  void open_session(const SessionFile& file);
  SessionFile session_file() const;
  void remember(const QString& source);

  WindowParts& parts_;
  QString session_path_;  // empty: neither opened nor saved
};

}  // namespace fovea
