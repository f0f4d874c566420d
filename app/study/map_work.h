// The work behind the map of a long head, in pieces on the engine's thread: pictures of what is
// known, finer and finer, and bands of rows that become exact.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "data/source.h"
#include "panels/panel.h"
#include "study/keys.h"

namespace fovea {

inline constexpr double piece_ms = 30;  // of work that other requests wait for
/// Between two pictures of a map that becomes finer.
inline constexpr auto picture_interval = std::chrono::milliseconds(250);

/// Draws pictures of a map: first of what is known, then finer and finer.
class MapDrawing {
 public:
  struct Inputs {
    PanelKey key;
    std::shared_ptr<const Computation> computation, exact;
    std::shared_ptr<const Metrics> metrics;
    std::shared_ptr<const Source> source;
    std::shared_ptr<MapPyramid> map;
    std::shared_ptr<MapPyramid>
        sketch;  // of few pixels, drawn until the map has begun; may be null
    MapView view;
  };
  struct Picture {
    std::shared_ptr<const Panel> panel;
    std::uint64_t version = 0;  // of the map, when it was drawn
    bool complete = false;      // exact, and as fine as the view
  };

  explicit MapDrawing(Inputs inputs) : in_(std::move(inputs)) {}

  /// A piece of the work. Sets `picture` when there is a new one; false: that was all.
  bool advance(const Backend& backend, Run& run, std::optional<Picture>& picture);

 private:
  const MapPyramid* known() const;
  bool refine(Run& run) const;
  Picture draw(const Backend& backend, Run& run);

  Inputs in_;
  const MapPyramid* drawn_ = nullptr;  // the last, and when
  std::chrono::steady_clock::time_point drawn_at_ = {};
};

/// Makes bands of as many rows of pixels exact as fit a piece.
class MapBands {
 public:
  MapBands(std::shared_ptr<MapPyramid> map, std::shared_ptr<const std::atomic<Index>> focus_row)
      : map_(std::move(map)), focus_row_(std::move(focus_row)) {}

  bool advance(Run& run);

 private:
  std::shared_ptr<MapPyramid> map_;
  std::shared_ptr<const std::atomic<Index>> focus_row_;
  Index most_ = 1;
};

}  // namespace fovea
