// PanelSources own everything a panel is made from, for work that is done later.
#pragma once

#include <memory>
#include <vector>

#include "data/source.h"
#include "panels/readings.h"
#include "views/views.h"

namespace fovea {

/// Which part of a view is shown, and how.
struct PanelPart {
  View view;
  ViewSettings settings;
  IndexRange rows, cols;  // tokens
  Index max_pixels = 0;
  Index query = 0;  // of a view of one query
  friend bool operator==(const PanelPart&, const PanelPart&) = default;
};

struct PanelSources : PanelPart {
  std::shared_ptr<const Source> source;
  Index layer = 0;                                        // of the source
  std::shared_ptr<const Matrix> attention;                // of a source without Q and K; else null
  std::shared_ptr<const Computation> computation, exact;  // null where `attention` is not
  std::shared_ptr<const Metrics> metrics;                 // this and the following may be null
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics;
  std::shared_ptr<const RowReading> exact_row, row;
};

/// `map` is that of a long head, as in PanelInputs.
Panel make_panel(const PanelSources& from, const Backend& backend, Run& run,
                 const MapPyramid* map = nullptr);

}  // namespace fovea
