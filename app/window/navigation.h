// Navigation moves the visible part and the crosshair, and goes through panels and leaves, by keys
// and pointer.
#pragma once

#include <QTimer>
#include <memory>
#include <optional>
#include <utility>

#include "canvas/canvas.h"
#include "study/session_editor.h"

namespace fovea {

struct Docks;
struct Workspace;

class Navigation {
 public:
  Navigation(Workspace& workspace, const Docks& docks);

  /// Moves by shares of the visible part. If a whole axis is visible, the crosshair moves along it
  /// instead.
  void pan(double rows, double cols);
  /// Zooms about the crosshair if it is visible, else about the middle.
  void zoom(double factor);
  void fit();
  /// Moves the visible part to the pair and pins its query.
  void go_to(Index query, Index key);
  /// Pins a query and puts the crosshair on it, in the middle of the visible keys.
  void go_to_query(Index query);

  /// Points at a pair, by keys, a token or the image. It is read in the selected column and shown
  /// in all panels.
  void point_to(Index query, Index key);
  /// After another view was chosen: a crosshair that it does not show is there no more.
  void drop_hidden_crosshair();
  /// Moves by whole tokens, at least one along an axis that is not 0; the visible part follows.
  void move_crosshair(double rows, double cols);
  void pin_crosshair();
  /// Moves the crosshair from query to query, as a model writes them, to the last one. Called
  /// again, it stops. It also stops if a person points at another query.
  void play();
  bool is_playing() const { return player_.isActive(); }
  /// Returns false if nothing is played.
  bool stop_playing();
  /// Pins the query with the largest output error in the selected column, then the next one in
  /// order, or with -1 the one before, until another query is pinned. The crosshair goes to the key
  /// whose weight has fallen most, once it is known.
  void step_worst(int by);
  /// Marks a corner of a selection; the second time the opposite corner.
  void mark_corner();
  void choose_block_at_crosshair();
  void step_leaf(int by);

  /// The panel that was pointed at or chosen last.
  int view() const;
  int column() const;
  void step_view(int by);
  void move_view(int by);
  void choose_column(int column);
  void move_column(int from, int to);
  /// Lets keys act on the selected column, and replaces an enlarged panel by that of the column.
  void follow_column();
  void enlarge_panel();
  /// Unselects everything but the pinned query.
  void unselect();
  /// To be called when another source was opened.
  void reset();

 private:
  bool has_crosshair() const;
  void play_next();
  /// Pins a query and puts the crosshair on the key whose weight has fallen most, once it is known.
  void go_to_loss_of(Index query);
  void find_loss();

  Workspace& workspace_;
  const Docks& docks_;
  Study& study_;
  SessionEditor& editor_;
  Canvas& canvas_;
  int column_ = 0, view_ = 0;
  QTimer player_;
  Index played_ = -1;                      // the query that play_next() moved to
  std::optional<Index> worst_;             // the query that step_worst() pinned last
  std::weak_ptr<const Metrics> worst_of_;  // the errors by which it is the worst
  std::optional<Index> loss_sought_;       // the query of go_to_loss_of() until its key is known
  std::optional<std::pair<Index, Index>> corner_;  // query, key: a selection begun by keys
};

}  // namespace fovea
