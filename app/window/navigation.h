// Navigation moves about: the visible part, the crosshair, panels and leaves, by keys and pointer.
#pragma once

#include <optional>
#include <utility>

#include "window/window_parts.h"

namespace fovea {

class Navigation {
 public:
  explicit Navigation(WindowParts& parts);

  /// By shares of the visible part. Where all of an axis is seen the crosshair moves instead.
  void pan(double rows, double cols);
  /// About the crosshair, where it is visible.
  void zoom(double factor);
  void fit();
  /// The visible part moves to the pair, whose query is pinned.
  void go_to(Index query, Index key);

  /// From keys, tokens or the image: read in the selected column and shown in all panels.
  void point_to(Index query, Index key);
  /// By at least one token each; the visible part follows.
  void move_crosshair(double rows, double cols);
  void pin_crosshair();
  /// The first time a corner of a rectangle, the second time the one across from it.
  void mark_corner();
  void choose_block_at_crosshair();
  void step_leaf(int by);

  /// The panel last pointed at or chosen.
  std::size_t view() const { return static_cast<std::size_t>(view_); }
  std::size_t column() const { return static_cast<std::size_t>(column_); }
  void step_view(int by);
  void move_view(int by);
  void choose_column(int column);
  void move_column(int from, int to);
  /// Keys act on the selected column; an enlarged panel becomes its.
  void follow_column();
  void enlarge_panel();
  /// One step back: the search, the enlarged panel, running work, then what is selected.
  void go_back();
  /// Another source was opened.
  void reset();

 private:
  bool has_crosshair() const;

  WindowParts& parts_;
  Study& study_;
  Canvas& canvas_;
  int column_ = 0, view_ = 0;
  std::optional<std::pair<Index, Index>> corner_;  // query, key: a selection begun by keys
};

}  // namespace fovea
