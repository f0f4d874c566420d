// The Docks around the canvas: input, variant, inspector, timing, comparison, spans, learning,
// effect, and which attention to use.
#pragma once

#include <QList>

#include "input/sort_orders.h"
#include "window/docks/explore_dock.h"
#include "window/docks/inspector_dock.h"
#include "window/docks/sequence_view.h"

class QCheckBox;
class QComboBox;
class QDockWidget;
class QTableWidget;

namespace fovea {

class ComparisonDock;
class LearningRun;
class MainWindow;
class ValidationRun;

/// Says what is open and how it was understood; chooses layer, head and query. It contains a
/// HeadGallery and a SequenceView.
QWidget* make_input_dock(Study& study, SessionEditor& editor);

/// A form made from the selected column's schema, with its paper, its notes and how far it is from
/// exact attention.
QWidget* make_variant_dock(Study& study, SessionEditor& editor, LearningRun& learning);

/// A table of what was measured, with a bar for each column of the canvas: plan, upload and the
/// stages of apply.
QTableWidget* make_timing_dock(Study& study);

/// The attention between parts of the text, to its sinks, or between spans that are named here.
QWidget* make_span_dock(Study& study, SessionEditor& editor);

/// Curves of the tree that learns or has learned last, and how keys spread over its leaves.
QWidget* make_learning_dock(Study& study, LearningRun& learning, ValidationRun& validation);

struct Docks {
  /// Makes them; the window owns them. They follow its study.
  explicit Docks(MainWindow& window);
  /// Puts them where they are at first: all but the last are shown, none floats.
  void arrange();
  /// Shows which attention to use, with enough room, as a plot or a table, or what heads do.
  void show_exploration(ExploreDock::Page page);
  /// Hides all docks, so that the canvas has the window; hidden, shows those again.
  void toggle_all();
  /// How their lists are sorted.
  SortOrders orders() const;
  void sort(const SortOrders& orders);

  SequenceView *sequence, *key_sequence;  // in the input dock
  InspectorDock* inspector;
  QTableWidget* timing;  // a row for each column of the canvas
  ExploreDock* exploration;

 private:
  MainWindow& window_;
  ComparisonDock* comparison_;
  QComboBox* head_order_;
  QCheckBox* all_layers_;
  QDockWidget *left_, *right_, *below_, *bottom_, *behind_, *spans_, *learning_, *effect_,
      *explore_;
  QList<QDockWidget*> hidden_;  // by toggle_all()
};

}  // namespace fovea
