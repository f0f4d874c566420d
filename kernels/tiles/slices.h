// Slices cut query tiles into launches of a few milliseconds, so that long work can be cancelled
// and reports its progress. A launch consists of whole waves, so that no multiprocessor waits for
// others at its end. While the host prepares a launch, the device has at least one launch's work
// queued.
#pragma once

#include <deque>
#include <optional>

#include "backend/profile.h"
#include "device/precision.h"
#include "device/timeline.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

class Slices {
 public:
  /// `list`, `run` and `stage`, to which the launches belong, outlive this. `wave`: query tiles
  /// that the device runs at a time. `precision`: that of the kernel. At most `most_tiles` in a
  /// launch, or the parts of one; 0: any number.
  Slices(const Device& device, const QueryTileList& list, Index wave, Run& run,
         Timeline::Stage& stage, Precision precision, Index most_tiles = 0);
  ~Slices();
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  /// The next query tiles to launch, of one round; empty: there are no more, and the last launches
  /// may still run. Throws Cancelled.
  QueryTileRange next();

 private:
  void wait_for_oldest();
  QueryTileRange take();

  const Device& device_;
  const QueryTileList& list_;
  Run& run_;
  Timeline::Stage& stage_;
  const Index wave_, most_tiles_;
  const double pairs_per_launch_;
  std::size_t round_ = 0;
  Index at_ = 0;
  struct Launched {
    cudaEvent_t done;
    Index end;     // query tiles launched by then
    double pairs;  // of query and key, in the launch
  };
  std::deque<Launched> launched_;
  double pairs_under_way_ = 0;        // of `launched_`
  std::optional<double> open_pairs_;  // of the last range, whose launch has no event yet
};

}  // namespace fovea::cuda
