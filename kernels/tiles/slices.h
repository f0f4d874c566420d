// Slices cut query tiles into launches of a few milliseconds, so that long work can be cancelled
// and reports its progress. One launch always runs while the next is prepared.
#pragma once

#include <deque>

#include "backend/profile.h"
#include "device/device.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

/// How many query tiles keep the device busy, however long they are.
Index busy_query_tiles(const Device& device);

class Slices {
 public:
  /// `list` and `run` outlive this. At most `most_tiles` in a launch, or the parts of one; 0: any
  /// number.
  Slices(const Device& device, const QueryTileList& list, Run& run, Index most_tiles = 0);
  ~Slices();
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  /// The next query tiles to launch, of one round; empty: there are no more. Throws Cancelled.
  QueryTileRange next();

 private:
  void wait_for_oldest();

  const Device& device_;
  const QueryTileList& list_;
  Run& run_;
  const Index most_tiles_;
  std::size_t round_ = 0;
  Index at_ = 0;
  struct Launched {
    cudaEvent_t done;
    Index end;  // query tiles launched by then
  };
  std::deque<Launched> launched_;
  bool open_ = false;  // the launch of the last range has no event yet
};

}  // namespace fovea::cuda
