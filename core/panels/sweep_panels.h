// The panels of a Sweep: its time, memory and error against n.
#pragma once

#include "panels/panel.h"
#include "sweep/sweep.h"

namespace fovea {

struct SweepPanels {
  const Sweep& sweep;
  SweepTime time = SweepTime::total;
  std::string message;                                   // why there are no points
  std::optional<std::pair<std::size_t, double>> chosen;  // the point of this series and n
};

/// Of time, memory and error.
std::vector<Panel> make_panels(const SweepPanels& in);

/// What a person must know to read them: what was fitted, left out, refused, or measured badly.
std::vector<std::string> sweep_notes(const Sweep& sweep);

}  // namespace fovea
