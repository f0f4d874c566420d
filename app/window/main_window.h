// A MainWindow joins the canvas, the docks and the menus to a Study. It holds no results: what it
// shows comes from the Study, and what the user does becomes a new Session.
#pragma once

#include "window/actions.h"
#include "window/canvas_feed.h"

namespace fovea {

class SweepDialog;
class ViewBar;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `background`: of the program, which writes files and ends devices; null: the window's own.
  explicit MainWindow(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background = {},
                      QWidget* parent = nullptr);
  ~MainWindow() override;

  Study& study() { return study_; }
  SessionEditor& editor() { return editor_; }
  Canvas& canvas() { return canvas_; }
  InfoBar& info_bar() { return info_bar_; }
  Files& files() { return files_; }
  Pictures& pictures() { return pictures_; }
  SweepDialog* sweep() { return sweep_; }  // nullptr: never opened

  /// A source or a session file.
  void open(const QString& what) { files_.open(what); }
  /// See SessionEditor.
  void change(const std::string& kind, const std::function<void(Session&)>& edit) {
    editor_.change(kind, edit);
  }
  void show_sweep();
  /// "dark", "light", or "desktop": as the desktop is.
  void set_look(const QString& look);
  /// Whether the desktop is dark now. Tests answer in its place.
  std::function<bool()> ask_desktop;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void connect_study();
  void connect_input();
  void show_look();

  std::shared_ptr<Background> background_;
  Study study_;
  SessionEditor editor_{study_};
  InfoBar& info_bar_;
  FindBar& find_bar_;
  Canvas& canvas_;
  ViewBar& view_bar_;
  Docks docks_;
  WindowParts parts_;
  StatusLine status_;
  Files files_{parts_};
  Pictures pictures_{parts_, status_};
  Navigation navigation_{parts_};
  TokenSearch search_{parts_};
  CanvasFeed feed_{parts_};
  Actions actions_;
  SweepDialog* sweep_ = nullptr;
  QString look_;
};

}  // namespace fovea
