// Slices cut query tiles into launches of 8 ms, at the device's pace, so that long work can be
// cancelled, reports its progress and lets a display draw. A launch consists of whole waves, at
// least one, so that no multiprocessor waits for others at its end. While the host prepares a
// launch, the device has at least one launch's work queued.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <type_traits>

#include "backend/profile.h"
#include "device/precision.h"
#include "device/timeline.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

class Slices {
 public:
  /// `list`, `run` and `stage`, to which the launches belong, outlive this. `wave`: query tiles
  /// that the device runs at a time. `precision`: that of the kernel; `columns`: of K and V, which
  /// a pair is multiplied with. At most `most_tiles` in a launch, or the parts of one; 0 means any
  /// number.
  Slices(const Device& device, const QueryTileList& list, Index wave, Run& run,
         Timeline::Stage& stage, Precision precision, Index columns, Index most_tiles = 0);
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  /// The next query tiles to launch, of one round; empty if there are no more, and the last
  /// launches may still run. Throws Cancelled.
  QueryTileRange next();

 private:
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;
  struct Launch {
    Event begin, end;
    Index after;   // query tiles launched by its end
    double pairs;  // of query and key, as Pace counts them
  };

  Event record() const;
  double wanted_pairs() const;
  QueryTileRange take(double& pairs);
  void wait_for_oldest();

  const Device& device_;
  const QueryTileList& list_;
  Run& run_;
  Timeline::Stage& stage_;
  const Precision precision_;
  const Index wave_, most_tiles_;
  const double pair_;  // as Pace counts it
  std::size_t round_ = 0;
  Index at_ = 0;
  std::optional<Launch> open_;  // of the last range; it has no end yet
  std::deque<Launch> launched_;
  double pairs_under_way_ = 0;  // of `launched_`
};

}  // namespace fovea::cuda
