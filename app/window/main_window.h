// A MainWindow joins the canvas, the docks and the menus to a Study. It holds no results: what it
// shows comes from the Study, and what the user does becomes a new Session.
#pragma once

#include <QMainWindow>

#include "canvas/canvas.h"
#include "study/effect_run.h"
#include "study/learning_run.h"
#include "study/validation_run.h"
#include "window/comparing.h"
#include "window/docks/docks.h"
#include "window/exports.h"
#include "window/files.h"
#include "window/find_bar.h"
#include "window/live_bar.h"
#include "window/navigation.h"
#include "window/recovery.h"
#include "window/widgets/info_bar.h"

namespace fovea {

class AddColumnDialog;
class ParameterPopup;
class RowSettings;
class SweepDialog;
class Tour;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `background` writes files and ends devices; null if the window has its own.
  explicit MainWindow(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background = {},
                      QWidget* parent = nullptr);
  ~MainWindow() override;

  Background& background() { return *background_; }
  Study& study() { return study_; }
  SessionEditor& editor() { return editor_; }
  LearningRun& learning() { return learning_; }
  EffectRun& effect() { return effect_; }
  ValidationRun& validation() { return validation_; }
  Canvas& canvas() { return canvas_; }
  Docks& docks() { return docks_; }
  InfoBar& info_bar() { return info_bar_; }
  FindBar& find_bar() { return find_bar_; }
  LiveBar& live_bar() { return live_bar_; }
  Files& files() { return files_; }
  Exports& exports() { return exports_; }
  Navigation& navigation() { return navigation_; }
  Recovery& recovery() { return recovery_; }
  RecoveryBar& recovery_bar() { return recovery_bar_; }
  SweepDialog* sweep() { return sweep_; }  // nullptr: never opened
  ExploreDock* exploration() { return docks_.exploration; }
  AddColumnDialog* add_columns() { return add_columns_; }  // nullptr: never opened
  Comparing& comparing() { return comparing_; }
  RowSettings& row_settings() { return *row_settings_; }
  Tour& tour() { return *tour_; }
  ParameterPopup& parameter_popup() { return *parameter_popup_; }

  /// A source or a session file.
  void open(const QString& what) { files_.open(what); }
  /// See SessionEditor.
  void change(const std::string& kind, const std::function<void(Session&)>& edit) {
    editor_.change(kind, edit);
  }
  /// Whether there is work that a person waits for.
  bool can_cancel() const { return exports_.can_cancel() || study_.can_cancel(); }
  /// Cancels the work in the status bar: an export, else what is being opened or computed.
  void cancel();
  /// Shows a message in the status bar for a while.
  void show_status(const QString& message);
  /// Where the docks are, as settings and sessions remember it.
  QByteArray layout_state() const;
  void restore_layout(const QByteArray& state);
  void show_sweep();
  void show_add_columns();
  /// Sets the look of all windows: "dark", "light", or "desktop" to follow the desktop.
  void set_look(const QString& look);
  /// Whether the desktop is dark now. Tests replace it.
  std::function<bool()> ask_desktop;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool event(QEvent* event) override;
  void childEvent(QChildEvent* event) override;
  /// Sees the events of the whole application: Shift may be held anywhere in the window.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool give_to_model(const std::string& path);
  void connect_study();
  void connect_canvas();
  void show_model();
  void show_exact(bool on);
  void show_look();
  void hide_cancelled();

  std::shared_ptr<Background> background_;
  Study study_;
  SessionEditor editor_{study_};
  LearningRun learning_{study_, editor_};
  EffectRun effect_{study_, editor_};
  ValidationRun validation_{study_, editor_, learning_};
  InfoBar& info_bar_;
  Canvas& canvas_;
  Docks docks_;
  FindBar& find_bar_;
  LiveBar& live_bar_;
  RecoveryBar& recovery_bar_;
  Recovery& recovery_;
  Files files_{*this};
  Exports exports_{*this};
  Navigation navigation_{*this};
  Comparing comparing_{*this};
  RowSettings* row_settings_ = nullptr;
  ParameterPopup* parameter_popup_ = nullptr;
  Tour* tour_ = nullptr;
  SweepDialog* sweep_ = nullptr;
  AddColumnDialog* add_columns_ = nullptr;
  QString look_;
  bool exact_in_place_ = false;
};

}  // namespace fovea
