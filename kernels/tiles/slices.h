// Slices deal out strips in launches of a few milliseconds, so that long work can be stopped and
// shows how far it is; one launch is always under way while the next is asked for.
#pragma once

#include <deque>

#include "backend/profile.h"
#include "device/device.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

/// Strips of one launch that keep the device busy, however long they are.
Index busy_strips(const Device& device);

class Slices {
 public:
  /// `strips` and `run` outlive this. At most `most_strips` in a launch; 0: any number.
  Slices(const Device& device, const StripList& strips, Run& run, Index most_strips = 0);
  ~Slices();
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  /// The next strips to launch, of one round; empty: there are no more. Throws Cancelled.
  StripRange next();

 private:
  double pairs(const Strip& strip) const;
  void wait_for_oldest();

  const Device& device_;
  const StripList& strips_;
  Run& run_;
  const Index most_strips_;
  std::size_t round_ = 0;
  Index at_ = 0;
  struct Launched {
    cudaEvent_t done;
    Index end;  // strips launched by then
  };
  std::deque<Launched> launched_;
  bool open_ = false;  // a range was given out whose launch has no event yet
};

}  // namespace fovea::cuda
