// The map of a long head in pieces of work: pictures of its known part, finer and finer, and bands
// of its rows that become exact.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "views/panel_sources.h"

namespace fovea {

inline constexpr double piece_ms = 30;  // of work that other requests wait for
/// Time between two pictures of a map that becomes finer.
inline constexpr auto picture_interval = std::chrono::milliseconds(250);

/// Whether the panel is a raster of which nothing is an estimate or coarser than the view.
bool is_fully_drawn(const Panel& panel);

/// Draws pictures of a map: first with what is known, then finer and finer.
class MapDrawing {
 public:
  struct Picture {
    std::shared_ptr<const Panel> panel;
    std::uint64_t version = 0;  // of the map, when it was drawn
  };

  /// `pixels` are those of the map, from map_view, with the tokens in focus.
  MapDrawing(PanelSources from, std::shared_ptr<MapPyramid> map, const MapView& pixels);

  /// Does a piece of the work. Sets `picture` if there is a new one; false if the work is done.
  bool advance(const Backend& backend, Run& run, std::optional<Picture>& picture);

 private:
  const MapPyramid* known() const;
  bool refine(Run& run) const;
  Picture draw(const Backend& backend, Run& run);

  PanelSources from_;
  std::shared_ptr<MapPyramid> map_;
  MapView pixels_;
  std::shared_ptr<MapPyramid> sketch_;  // of few pixels, drawn until the map has begun
  const MapPyramid* drawn_ = nullptr;   // the last, and when
  std::chrono::steady_clock::time_point drawn_at_ = {};
};

/// Makes bands exact, each of as many rows of pixels as fit into a piece.
class MapBands {
 public:
  MapBands(std::shared_ptr<MapPyramid> map, std::shared_ptr<const std::atomic<Index>> focus_row)
      : map_(std::move(map)), focus_row_(std::move(focus_row)) {}

  /// Does a piece of the work; false if the work is done.
  bool advance(Run& run);

 private:
  std::shared_ptr<MapPyramid> map_;
  std::shared_ptr<const std::atomic<Index>> focus_row_;
  Index most_ = 1;
};

}  // namespace fovea
