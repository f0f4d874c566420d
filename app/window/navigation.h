// Navigation moves about: the visible part, the crosshair, panels and leaves, by keys and pointer.
#pragma once

#include <optional>
#include <utility>

#include "canvas/canvas.h"
#include "study/session_editor.h"

namespace fovea {

class MainWindow;

class Navigation {
 public:
  explicit Navigation(MainWindow& window);

  /// By shares of the visible part. Where all of an axis is seen the crosshair moves instead.
  void pan(double rows, double cols);
  /// About the crosshair, where it is visible.
  void zoom(double factor);
  void fit();
  /// The visible part moves to the pair, whose query is pinned.
  void go_to(Index query, Index key);

  /// Points by keys, a token or the image: read in the selected column, shown in all panels.
  void point_to(Index query, Index key);
  /// By at least one token each; the visible part follows.
  void move_crosshair(double rows, double cols);
  void pin_crosshair();
  /// The first time a corner of a rectangle, the second time the one across from it.
  void mark_corner();
  void choose_block_at_crosshair();
  void step_leaf(int by);

  /// The panel last pointed at or chosen.
  int view() const { return view_; }
  int column() const { return column_; }
  void step_view(int by);
  void move_view(int by);
  void choose_column(int column);
  void move_column(int from, int to);
  /// Keys act on the selected column, and an enlarged panel is replaced by that column's.
  void follow_column();
  void enlarge_panel();
  /// Closes the search, else leaves the enlarged panel, else cancels the running work, else
  /// unselects everything.
  void go_back();
  /// Another source was opened.
  void reset();

 private:
  bool has_crosshair() const;

  MainWindow& window_;
  Study& study_;
  SessionEditor& editor_;
  Canvas& canvas_;
  int column_ = 0, view_ = 0;
  std::optional<std::pair<Index, Index>> corner_;  // query, key: a selection begun by keys
};

}  // namespace fovea
