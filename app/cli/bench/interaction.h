// Measures how long a person waits who explores a long head: on the real window, along a path of
// pans and zooms.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/matrix.h"
#include "input/backend_choice.h"

namespace fovea {

struct InteractionFigures {
  std::string source, device;
  Index n = 0, d = 0;
  int width = 0, height = 0;  // of the canvas, device pixels
  double estimate_ms = 0;     // from the request of the file to its first map on screen
  double first_look_ms = 0;   // from the end of reading the file to its first map on screen
  /// For views of `one_to_one` tokens, from the last step of the path until all is exact.
  std::vector<double> settled_ms;
  Index one_to_one = 0;
  /// From a move of the pointer to the next frame, which shows the pair; from a step of zooming in
  /// at rest to the first frame of the new view, and until all of it is exact; from the choice of
  /// another head to its first picture, and to all of them, empty for a source of one head.
  std::vector<double> hover_ms, zoom_ms, sharp_ms, head_ms, all_of_head_ms;
  // Times of frames on the path: of drawing alone, and from the change of the view to the screen.
  std::vector<double> own_ms, frame_ms;
  std::vector<double> empty_ms;  // of frames of an empty window of the same size
  // Longest times while the overview becomes exact: of drawing a frame; between two turns of the
  // event loop.
  double filling_own_ms = 0, filling_gap_ms = 0;
  double exact_s = 0;     // from the request of the file to the whole exact overview
  double closing_ms = 0;  // of the window while everything runs
  double peak_bytes = 0;  // resident
};

/// Throws UnavailableError without a display. `stop` is called while it waits.
InteractionFigures measure_interaction(const std::string& source, const BackendChoice& backend,
                                       const std::function<bool()>& stop);

}  // namespace fovea
