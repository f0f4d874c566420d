// HeadMaps are the maps of a long head, one for each heatmap and error map: estimated first, then
// exact, and as fine as the view. Exact attention of a long head is computed along with its map.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "session/gradual_output.h"
#include "study/canvas_model.h"
#include "study/map_work.h"
#include "study/results.h"

namespace fovea {

/// `exact` and `error` only of an error map.
struct MapKey {
  ComputeKey approximate, exact;
  View view = View::heatmap;
  Pool::Kind pool = Pool::Kind::max;
  ErrorKind error = ErrorKind::signed_difference;
  friend bool operator==(const MapKey&, const MapKey&) = default;
};

class HeadMaps {
 public:
  HeadMaps(Requests& requests, const Subject& subject, Results& results)
      : requests_(requests), subject_(subject), results_(results) {}

  /// Whether this view of the head is a map.
  bool shows(View view) const;
  /// Other columns wait until the first estimate of exact attention is there.
  bool waits_for_first_look() const;
  /// Requests exact attention of the long head.
  void update_exact();
  /// The exact attention of a long head is being computed.
  bool computes_exact() const { return exact_ != nullptr; }

  void begin_round() { incomplete_ = false; }
  /// `key`: of the panel that the cell shows.
  void update_cell(std::size_t column, std::size_t row, const PanelKey& key, CanvasCell& cell);
  /// In this round a map was shown that becomes finer or exact.
  bool incomplete() const { return incomplete_; }
  /// A picture of another part than is shown has been requested.
  bool draws_other_part() const;

  void clear();
  void forget_errors();

 private:
  struct Entry {
    MapKey key;
    std::shared_ptr<MapPyramid> map;  // read by other threads only where it says so
    std::string error;                // of its bands
  };
  /// What a cell shows.
  struct Shown {
    PanelKey key;
    MapDrawing::Picture picture;
    std::chrono::steady_clock::time_point when = {};
    std::string error;
  };

  Entry& entry_of(const MapKey& key, const Computation& computation, const Computation& exact);
  void request_picture(const RequestId& id, const PanelKey& key, const ColumnState& state,
                       const std::shared_ptr<MapPyramid>& map);
  void request_bands(const RequestId& id, const Entry& entry);
  void show(const RequestId& map_id, const RequestId& bands_id, const Entry& entry, bool by_exact,
            const PanelKey& key, const ColumnState& state, CanvasCell& cell);

  Requests& requests_;
  const Subject& subject_;
  Results& results_;
  std::list<Entry> maps_;  // the last used first
  std::map<RequestId, Shown> shown_;
  std::shared_ptr<GradualOutput> exact_;  // of exact_key_, while it is not complete
  ComputeKey exact_key_;
  std::shared_ptr<std::atomic<Index>> focus_row_ = std::make_shared<std::atomic<Index>>(0);
  bool incomplete_ = false;
};

}  // namespace fovea
