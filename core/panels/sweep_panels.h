// The panels of a Sweep: its time, memory and error against n.
#pragma once

#include "panels/panel.h"
#include "sweep/sweep.h"

namespace fovea {

/// A point of a series, in all plots.
struct SweepSpot {
  std::size_t series = 0;
  Index n = 0;
  friend bool operator==(const SweepSpot&, const SweepSpot&) = default;
};

struct SweepPanels {
  Sweep sweep;
  SweepTime time = SweepTime::total;
  std::string message;              // why there are no points
  std::optional<SweepSpot> chosen;  // this point has a ring
};

/// Panels of time, memory and error.
std::vector<Panel> make_panels(const SweepPanels& in);

/// What a person must know to read them: what was fitted, left out, refused, or measured badly.
std::vector<std::string> sweep_notes(const Sweep& sweep);

}  // namespace fovea
