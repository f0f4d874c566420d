// Files opens sources and sessions, and writes sessions and pictures.
#pragma once

#include <QString>
#include <functional>

#include "figure/figure.h"
#include "input/session_file.h"

namespace fovea {

class MainWindow;

class Files {
 public:
  explicit Files(MainWindow& window);

  /// A source or a session file.
  void open(const QString& what);
  void open_by_dialog();
  /// What was open when a window was last closed; false: nothing, or it is no longer there.
  bool open_last();
  /// To the file that was opened or saved last, else to one that is asked for.
  void save_session();
  void save_session_to(const QString& path);
  /// For open_last().
  void keep_last();

  /// The canvas as a figure.
  void export_by_dialog();
  void export_to(const QString& path, const FigureStyle& style);
  /// A panel as a picture, to the clipboard.
  void copy_panel(std::size_t row, std::size_t column);

  /// Asks where a session's missing source is now; empty: not known. Tests replace it.
  std::function<QString(const QString& missing)> ask_for_source;

 private:
  void open_session(const SessionFile& file);
  SessionFile session_file() const;
  /// Writes in the background; then the status bar or a message says how it ended.
  void write(const QString& path, std::function<void()> work,
             std::function<void()> on_success = {});

  MainWindow& window_;
  QString session_path_;  // empty: neither opened nor saved
};

}  // namespace fovea
