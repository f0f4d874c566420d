// A MainWindow joins the canvas, the docks and the menus to a Study. It holds no results: what it
// shows comes from the Study, and what the user does becomes a new Session.
#pragma once

#include <QMainWindow>

#include "window/comparing.h"
#include "window/docks/docks.h"
#include "window/exports.h"
#include "window/files.h"
#include "window/find_bar.h"
#include "window/live_bar.h"
#include "window/navigation.h"
#include "window/recovery.h"
#include "window/workspace.h"

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

  Workspace& workspace() { return workspace_; }
  Background& background() { return *workspace_.background; }
  Study& study() { return workspace_.study; }
  SessionEditor& editor() { return workspace_.editor; }
  LearningRun& learning() { return workspace_.learning; }
  EffectRun& effect() { return workspace_.effect; }
  ValidationRun& validation() { return workspace_.validation; }
  Canvas& canvas() { return workspace_.canvas; }
  InfoBar& info_bar() { return workspace_.info_bar; }
  Docks& docks() { return docks_; }
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
  /// Opens it with as many rows as a first look has room for.
  void open_at_first(const QString& what);
  /// The rows of a first look: as many as there is room for.
  std::vector<View> first_views_in_sight();
  /// See SessionEditor.
  void change(const std::string& kind, const std::function<void(Session&)>& edit) {
    workspace_.editor.change(kind, edit);
  }
  /// Whether there is work that a person waits for.
  bool can_cancel() const { return exports_.can_cancel() || workspace_.study.can_cancel(); }
  /// Cancels the work in the status bar: an export, else what is being opened or computed.
  void cancel();
  /// Closes the search, else ends playing, else leaves the enlarged panel, else ends a comparison,
  /// else cancels the running work, else unselects everything but the pinned query.
  void go_back();
  void show_sweep();
  void show_add_columns();
  /// Sets the look of all windows: "dark", "light", or "desktop" to follow the desktop.
  void set_look(const QString& look);
  const QString& look() const { return look_; }
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
  void fill_canvas();
  void show_model();
  void show_exact(bool on);
  void show_look();
  void hide_cancelled();

  Workspace workspace_;
  Docks docks_{workspace_};
  Files files_{workspace_, docks_};
  Exports exports_{workspace_};
  Navigation navigation_{workspace_, docks_};
  Comparing comparing_{workspace_};
  FindBar& find_bar_;
  LiveBar& live_bar_;
  RecoveryBar& recovery_bar_;
  Recovery& recovery_;
  RowSettings* row_settings_ = nullptr;
  ParameterPopup* parameter_popup_ = nullptr;
  Tour* tour_ = nullptr;
  SweepDialog* sweep_ = nullptr;
  AddColumnDialog* add_columns_ = nullptr;
  QString look_;
  bool exact_in_place_ = false;
  bool opens_at_first_ = false;  // what is being opened fills the canvas with rows
};

}  // namespace fovea
