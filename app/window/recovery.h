// Recovery keeps a window's session in a RecoveryFile while a person works, until a clean end. The
// RecoveryBar offers sessions that other windows left behind.
#pragma once

#include <QElapsedTimer>
#include <QFrame>
#include <QTimer>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "input/recovery_file.h"

class QLabel;

namespace fovea {

class Files;
class MainWindow;
struct Workspace;

class Recovery : public QObject {
  Q_OBJECT

 public:
  Recovery(Workspace& workspace, Files& files);
  ~Recovery() override;

  /// Begins to keep the session in a file of its own in `folder`. If that fails, the window says so
  /// once and works without recovery.
  void keep_in(const std::string& folder);
  /// Continues in the file of a session that this window takes over.
  void take_over(std::shared_ptr<RecoveryFile> file);
  /// Writes pending changes at once, on this thread. Returns the path of the file; empty if there
  /// is none.
  std::string write_now();
  /// To be called at a clean end of the window: writes pending changes and returns a function that
  /// removes the file, on any thread. Call that function once the session is saved elsewhere or not
  /// wanted; until then the next start offers it.
  std::function<void()> end();

 private:
  void ask_to_write();
  void write();
  void report(const std::string& error);
  bool has_session() const;

  Workspace& workspace_;
  Files& files_;
  std::shared_ptr<RecoveryFile> file_;  // null if nothing is kept
  QTimer soon_, regularly_;
  QElapsedTimer since_;             // a session was given to be written
  bool writing_ = false;            // a session is being written, or waits for that
  bool changed_meanwhile_ = false;  // the session has changed since it was given to be written
  bool reported_ = false;
};

/// "Fovea ended unexpectedly. Restore the session of …?", one session after the other.
class RecoveryBar : public QFrame {
  Q_OBJECT

 public:
  explicit RecoveryBar(MainWindow& window);

  void offer(RecoverySearch found);
  QString text() const;
  /// Makes a window for the second and each later session; if empty, this window shows each.
  std::function<MainWindow&()> make_window;

 private:
  void restore();
  void discard();
  void keep();
  void show_next();

  MainWindow& window_;
  std::vector<LeftBehind> left_;  // the next one first
  bool restored_ = false;         // this window shows one
  QLabel* label_;
};

}  // namespace fovea
