// HeadMaps are the maps of a long head, one for each heatmap and error map: estimated first, then
// exact band by band. Exact attention of a long head is computed along with its map.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/gradual_output.h"
#include "study/results.h"
#include "views/map_drawing.h"

namespace fovea {

class HeadMaps {
 public:
  HeadMaps(Requests& requests, const Subject& subject, Results& results)
      : requests_(requests), subject_(subject), results_(results) {}

  /// The request for exact attention of a long head; another one while none is being computed.
  RequestId exact_id(const HeadState& head) const;
  /// Whether this view of a column is a map.
  bool shows(View view, const Column& column) const;
  /// Other columns wait until the first estimate of exact attention is there.
  bool waits_for_first_estimate() const;
  /// Requests exact attention of the long heads.
  void update_exact();
  /// Exact attention of a long head is being computed.
  bool computes_exact() const { return !exact_.empty(); }

  using Cache = ResultCache<PanelKey, MapPyramid>;
  /// The map that the panel is a part of; the error is that of its estimate or of its bands.
  Cache::Answer& map_of(const PanelKey& panel, const ColumnState& column);
  /// Requests pictures of it for the panel, each finer than the last. `take` gets every picture, or
  /// an error.
  using Take = std::function<void(const MapDrawing::Picture& picture, const std::string& error)>;
  void request_picture(const RequestId& id, const PanelKey& panel, const ColumnState& column,
                       const Take& take);
  /// Requests exact bands of the panel's map, if it lacks some, for this place on the canvas.
  /// Returns the request by which it becomes exact.
  RequestId update_bands(const PanelKey& panel, int row, int column);

  /// Forgets what is being computed.
  void clear();

 private:
  /// Exact attention of a head, while it is not complete.
  struct GradualExact {
    ComputeKey key;
    std::shared_ptr<GradualOutput> output;
    RequestId id;  // its own, wherever the head is among the others
  };
  bool lacks_output(const HeadState& head) const;
  GradualExact& begin_exact(const ColumnState& exact);

  Requests& requests_;
  const Subject& subject_;
  Results& results_;
  Cache maps_{requests_, 16};  // up to 40 MiB each; by map_key
  std::vector<GradualExact> exact_;
  int next_exact_ = 0;
  std::shared_ptr<std::atomic<Index>> focus_row_ = std::make_shared<std::atomic<Index>>(0);
};

}  // namespace fovea
