// The MainWindow joins the canvas, the docks and the menus to a Study. It holds no results: what it
// shows comes from the Study, what the hand does becomes a new Session.
#pragma once

#include <QMainWindow>
#include <functional>

#include "canvas/canvas.h"
#include "input/session_file.h"
#include "study/history.h"
#include "study/study.h"

class QAction;
class QActionGroup;
class QLabel;
class QProgressBar;
class QScrollArea;
class QToolButton;

namespace fovea {

class FindBar;
class InfoBar;
class InputDock;
class InspectorDock;
class SweepDialog;
class ViewBar;
class TimingDock;
class VariantDock;
struct FigureStyle;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(std::unique_ptr<Backend> backend, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// A source or a session file.
  void open(const QString& what);
  bool save_session_to(const QString& path);
  /// What was open when a window was last closed; false: nothing, or it is not there any more.
  bool open_last();
  bool export_to(const QString& path, const FigureStyle& style);
  Study& study() { return *study_; }
  Canvas& canvas() { return *canvas_; }
  /// Asks where a session's missing source lies now; empty: nowhere. Tests answer in its place.
  std::function<QString(const QString& missing)> ask_for_source;
  /// Whether the desktop is dark now. Tests answer in its place.
  std::function<bool()> ask_desktop;
  InfoBar& info_bar() { return *info_bar_; }
  SweepDialog* sweep() { return sweep_; }  // nullptr: never opened

  /// Takes a changed Session up as a step of undo; steps of one `kind` in a row are one.
  void change(const std::string& kind, const std::function<void(Session&)>& edit);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  // main_window.cpp
  void make_docks();
  void make_status_bar();
  void connect_study();
  void connect_canvas();
  void show_model();
  void refresh_title();
  bool can_cancel() const;  // by the button and by Esc alike
  void refresh_status();
  void tell(const QString& message);
  QString provenance() const;
  void set_look(const QString& look);
  void show_look();
  void show_exact(bool on);
  void show_token_errors();
  void say(const QString& message);  // in the status bar, for a while

  // main_window_files.cpp
  void open_session(const SessionFile& file);
  SessionFile session_file() const;
  void keep_last() const;
  void remember(const QString& source);

  // main_window_menus.cpp
  QAction* add(QMenu* menu, const QString& name, const QString& text, const QKeySequence& keys,
               std::function<void()> run);
  void make_menus();
  void make_file_menu();
  void make_edit_menu();
  void make_view_menu();
  void make_variant_menu();
  void make_compute_menu();
  void make_help_menu();
  void make_canvas_keys();
  void make_picture_keys();
  void refresh_menus();
  template <class T>
  void add_choices(QMenu* menu, const std::vector<std::pair<QString, T>>& choices,
                   T ViewSettings::*member);

  // main_window_actions.cpp
  void open_by_dialog();
  void save_session();
  void export_by_dialog();
  void copy_panel();
  void go_to_pair();
  void ask_scale();
  void show_keys();
  void show_back_end();
  void show_about();
  void show_sweep();
  void show_picture(View view, bool on);
  void add_column(const std::string& variant);
  void remove_column();
  void move_column(int from, int to);
  void reset_column();
  void move_row(int by);
  void choose_head(Index layer, Index head);

  // main_window_hands.cpp
  void pan(double rows, double cols);
  void zoom(double factor);
  void fit();
  void pin(Index query);
  void point_to(Index query, Index key);
  void move_crosshair(double rows, double cols);
  void pin_crosshair();
  void mark_corner();
  void choose_block_at_crosshair();
  void step_leaf(int by);
  void step_row(int by);
  void choose_column(int column);
  void enlarge_panel();
  void follow_column();
  void go_back();
  void search(const QString& text);
  void look_for(const QString& text);
  void step_match(int by);
  void show_match();

  std::unique_ptr<Study> study_;
  Canvas* canvas_;
  InfoBar* info_bar_;
  FindBar* find_bar_;
  InputDock* input_;
  VariantDock* variant_;
  TimingDock* timing_;
  InspectorDock* inspector_;
  ViewBar* view_bar_;
  SweepDialog* sweep_ = nullptr;
  std::vector<QDockWidget*> docks_;
  QLabel *status_text_, *head_text_;
  QProgressBar* progress_;
  QToolButton* cancel_;
  QMenu *recent_menu_ = nullptr, *add_menu_ = nullptr, *dock_menu_ = nullptr;
  QAction *undo_ = nullptr, *redo_ = nullptr, *causal_ = nullptr, *shared_ = nullptr;
  std::map<View, QAction*> view_actions_;
  std::vector<std::function<void()>> menu_refreshers_;
  History history_;
  bool show_exact_ = false;
  int current_column_ = 0, current_view_ = 0;      // the panel last pointed at or chosen
  std::optional<std::pair<Index, Index>> corner_;  // query, key: a selection begun by keys
  std::vector<Index> found_;                       // tokens that match the search
  std::optional<std::size_t> found_at_;            // the one that was shown last
  QString session_path_, look_;
};

}  // namespace fovea
