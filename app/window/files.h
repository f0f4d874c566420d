// Files opens sources and sessions, and writes sessions.
#pragma once

#include <QObject>
#include <QString>
#include <QVariantMap>
#include <functional>
#include <optional>

#include "input/session_file.h"

namespace fovea {

struct Docks;
struct Workspace;

/// The beginning of a file dialog: the name in the folder that was used last.
QString in_last_directory(const QString& name);
/// The beginning of a dialog that exports: the name in the folder of the last export, else among a
/// person's documents.
QString in_export_directory(const QString& name);
void remember_export(const QString& path);

class Files : public QObject {
  Q_OBJECT

 public:
  Files(Workspace& workspace, Docks& docks);

  /// Opens a source or a session file.
  void open(const QString& what);
  void open_by_dialog();
  void open_directory_by_dialog();
  void open_address_by_dialog();
  /// Opens what was open when a window was last closed. False if nothing was open, or if it has
  /// gone.
  bool open_last();
  /// Writes the session file that is open or was saved last, else asks for a file.
  void save_session();
  void save_session_by_dialog();
  void save_session_to(const QString& path);
  /// Opens a session that another window left behind. Calls `then` once its source is there, and
  /// not if that fails or another source is opened instead.
  void open_recovered(const SessionFile& file, std::function<void()> then);
  /// The session with the layout of the docks, and with content that is still being opened: other
  /// patches, or a text for a model.
  SessionFile session_file() const;
  /// Remembers the session for open_last(). `kept` is called on the writing thread once the session
  /// is written, or at once if there is nothing to remember; not if writing fails.
  void keep_last(std::function<void()> kept);

  /// Asks where a session's missing source is now; empty if unknown. Tests replace it.
  std::function<QString(const QString& missing, bool directory)> ask_for_source;

 signals:
  /// Opens a stream that programs send, by its name.
  void stream_chosen(const std::string& name);
  /// What is shown comes from a running program: a session of it needs a file.
  void capture_needed();

 private:
  /// A session that is being opened; empty if a source by itself is.
  struct Opening {
    std::string source;  // of the session; another source may be opened instead
    QString path;        // if empty, Ctrl+S asks for one
    std::string layout;  // if empty, it stays as it is
    std::optional<int> selected_column = {};
    std::optional<SortOrders> orders = {};
    bool is_session = false;
    std::function<void()> then = {};
  };

  SessionFile session_file(const Session& session) const;
  bool can_save_session();
  void open_session(const QString& path, const SessionFile& file, std::function<void()> then = {},
                    std::function<void()> ask_for_other_content = {});
  /// Opens the session of a file that may come from a stranger.
  void open_session_file(const QString& path, const SessionFile& file);
  void source_opened(bool new_source);
  void restore_conditions();
  void keep_conditions();
  /// Writes in the background; then the status bar or a message says how it ended.
  void write(const QString& path, std::function<void()> work,
             std::function<void(bool written)> then = {});

  Workspace& workspace_;
  Docks& docks_;
  Opening opening_;
  QVariantMap conditions_;  // of the source that is shown, set by hand
  QString session_path_;    // of the session that is shown; empty if neither opened nor saved
};

}  // namespace fovea
