// The Docks around the canvas: the input at its left, the selected column at its right, and below
// it one of those that a strip of buttons opens and closes, such as which attention to use.
#pragma once

#include <QList>

#include "input/sort_orders.h"
#include "window/docks/column_dock.h"
#include "window/docks/explore_dock.h"
#include "window/docks/sequence_view.h"

class QCheckBox;
class QComboBox;
class QDockWidget;
class QMainWindow;
class QTableWidget;

namespace fovea {

class ComparisonDock;
class LearningRun;
class ValidationRun;
struct Workspace;

/// Says what is open and how it was understood; chooses layer, head and query. It contains a
/// HeadGallery and a SequenceView.
QWidget* make_input_dock(Study& study, SessionEditor& editor);

/// A table of what was measured, with a bar for each column of the canvas: plan, upload and the
/// stages of apply.
QTableWidget* make_timing_dock(Study& study);

/// The attention between parts of the text, to its sinks, or between spans that are named here.
QWidget* make_span_dock(Study& study, SessionEditor& editor);

/// Curves of the tree that learns or has learned last, and how keys spread over its leaves.
QWidget* make_learning_dock(Study& study, LearningRun& learning, ValidationRun& validation);

struct Docks {
  /// Makes them; the window owns them. They follow its study.
  explicit Docks(Workspace& workspace);
  /// Puts them where they are at first: the input and the column are shown, none floats.
  void arrange();
  /// Shows which attention to use, with enough room, as a plot or a table, or what heads do.
  void show_exploration(ExploreDock::Page page);
  /// Hides all docks, so that the canvas has the window, or shows those again that it has hidden.
  void toggle_all();
  /// Shows the dock of this name; below the canvas, it takes the place of another one. For tests.
  void show(const QString& name);
  /// To be called as the mouse button is pressed and released in the window: the height to which a
  /// person drags what is below the canvas is that of all docks there.
  void begin_drag();
  void end_drag();
  /// Where the docks are, as settings and sessions remember it.
  QByteArray layout() const;
  void restore_layout(const QByteArray& layout);
  /// How their lists are sorted.
  SortOrders orders() const;
  void sort(const SortOrders& orders);

  SequenceView *sequence, *key_sequence;  // in the input dock
  ColumnDock* column;
  QTableWidget* timing;  // a row for each column of the canvas
  QWidget* strip;        // of buttons that open and close the docks below the canvas
  ExploreDock* exploration;

 private:
  void make_strip();
  static bool is_shown(const QDockWidget& dock);
  bool is_below(const QDockWidget& dock) const;
  void close_others(const QDockWidget& opened);
  void give_height(QDockWidget& dock);
  int height_below() const;  // 0 if nothing is open there

  QMainWindow& window_;
  ComparisonDock* comparison_;
  QComboBox* head_order_;
  QCheckBox* all_layers_;
  QDockWidget *left_, *right_, *explore_;
  QList<QDockWidget*> below_;   // the canvas, in the order of the strip
  QList<QDockWidget*> hidden_;  // by toggle_all()
  bool spans_seen_ = false;
  int height_before_drag_ = 0;
};

}  // namespace fovea
