// Files opens sources and sessions, and writes sessions.
#pragma once

#include <QString>
#include <QVariantMap>
#include <functional>
#include <optional>

#include "input/session_file.h"

namespace fovea {

class MainWindow;

/// Where a file dialog begins: the name in the folder that was used last.
QString in_last_directory(const QString& name);

class Files {
 public:
  explicit Files(MainWindow& window);

  /// A source or a session file.
  void open(const QString& what);
  void open_by_dialog();
  void open_directory_by_dialog();
  void open_address_by_dialog();
  /// Opens what was open when a window was last closed. False: nothing was, or it has gone.
  bool open_last();
  /// Writes the session file that is open or was saved last, else one that it asks for.
  void save_session();
  void save_session_by_dialog();
  void save_session_to(const QString& path);
  /// A session that another window left behind. Once its source is there, calls `then`; never where
  /// that fails or another source is opened instead.
  void open_recovered(const SessionFile& file, std::function<void()> then);
  /// With the docks' layout, and with what is still being opened: other patches, or a text that a
  /// model reads.
  SessionFile session_file() const;
  /// Remembers the session for open_last(). `kept` is called once it is written, on the thread that
  /// writes, and at once where there is nothing to remember; not where the writing fails.
  void keep_last(std::function<void()> kept);

  /// The session of what is shown, as figures carry it: docks stay as they are where it is opened.
  std::string session_text() const;

  /// Asks where a session's missing source is now; empty if unknown. Tests replace it.
  std::function<QString(const QString& missing, bool directory)> ask_for_source;

 private:
  /// A session that is being opened; empty if a source by itself is.
  struct Opening {
    std::string source;  // of the session: another one may be opened instead
    QString path;        // empty: Ctrl+S asks for one
    std::string layout;  // empty: as it is
    std::optional<int> selected_column = {};
    std::optional<SortOrders> orders = {};
    bool is_session = false;
    std::function<void()> then = {};
  };

  SessionFile session_file(const Session& session) const;
  bool can_save_session();
  void open_session(const QString& path, const SessionFile& file, std::function<void()> then = {},
                    std::function<void()> ask_for_other_content = {});
  /// The session of a file that may come from anybody.
  void open_session_file(const QString& path, const SessionFile& file);
  void source_opened(bool new_source);
  void restore_conditions();
  void keep_conditions();
  /// Writes in the background; then the status bar or a message says how it ended.
  void write(const QString& path, std::function<void()> work,
             std::function<void(bool written)> then = {});

  MainWindow& window_;
  Opening opening_;
  QVariantMap conditions_;  // of the source that is shown, set by hand
  QString session_path_;    // of the session that is shown; empty if neither opened nor saved
};

}  // namespace fovea
