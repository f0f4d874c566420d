// The Docks around the canvas: input, variant, inspector and timing.
#pragma once

#include <vector>

#include "window/docks/input_dock.h"
#include "window/docks/inspector_dock.h"
#include "window/docks/timing_dock.h"
#include "window/docks/variant_dock.h"

class QDockWidget;
class QMainWindow;

namespace fovea {

struct Docks {
  /// Makes them; the window owns them. They follow the study.
  Docks(QMainWindow& window, Study& study);

  InputDock* input;
  VariantDock* variant;
  InspectorDock* inspector;
  TimingDock* timing;
  std::vector<QDockWidget*> widgets;
};

}  // namespace fovea
