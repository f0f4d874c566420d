// What the computations of a Study depend on: equal keys, equal results.
#pragma once

#include <cstdint>
#include <optional>

#include "data/matrix.h"
#include "session/session.h"

namespace fovea {

struct HeadKey {
  std::uint64_t source = 0;  // number of the opened source
  Index layer = 0, head = 0;
  std::optional<bool> causal;
  std::optional<double> scale;
  friend bool operator==(const HeadKey&, const HeadKey&) = default;
};

struct ComputeKey {
  HeadKey head;
  Column column;
  friend bool operator==(const ComputeKey&, const ComputeKey&) = default;
};

/// Equal keys, equal panels.
struct PanelKey {
  ComputeKey approximate, exact;
  View view = View::heatmap;
  ViewSettings settings;  // only what the view depends on
  IndexRange rows, cols;
  Index max_pixels = 0;
  Index query = 0;
  bool with_metrics = false, with_diagnostics = false;
  friend bool operator==(const PanelKey&, const PanelKey&) = default;
};

}  // namespace fovea
