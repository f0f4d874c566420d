// The Docks around the canvas: input, variant, inspector and timing.
#pragma once

#include "window/docks/inspector_dock.h"
#include "window/docks/sequence_view.h"

class QTableWidget;

namespace fovea {

class MainWindow;

struct Docks {
  /// Makes them; the window owns them. They follow its study.
  explicit Docks(MainWindow& window);

  SequenceView* sequence;  // in the input dock
  InspectorDock* inspector;
  QTableWidget* timing;  // a row for each column of the canvas
};

}  // namespace fovea
