// LiveStreams keep the steps that programs have sent, by the names of their streams, within a bound
// of memory. Steps arrive on the server's thread and are looked at on the window's: any thread may
// call any function.
#pragma once

#include <QObject>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "live/live_step.h"

namespace fovea {

/// The steps of one stream that are kept, in rising order.
struct LiveStream {
  std::vector<LiveStep> steps;  // at least one
  Index thinned_out = 0;        // steps that were dropped to keep within the bound
  std::uint64_t fed = 0;        // when the last step came, counted in steps of all streams
};

struct LiveLimits {
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of all steps together
  std::size_t most_streams = 256;
  std::size_t most_steps = 10000;  // of a stream
};

class LiveStreams : public QObject {
  Q_OBJECT

 public:
  explicit LiveStreams(LiveLimits limits = {}) : limits_(limits) {}

  /// Adds a step. A step that is not after the last one starts the stream again, as when a program
  /// starts again: the kept steps from its number on are dropped. If the bound of memory is
  /// exceeded, older steps are thinned out, so that all the newest are there and older ones become
  /// ever sparser; the newest step of a stream is always kept. If there are too many streams, the
  /// one that was fed least recently is dropped. Returns the number of the step.
  Index add(LiveStep step);

  std::vector<std::string> names() const;
  /// The stream with its kept steps, or without any step if there is no such stream.
  LiveStream stream(const std::string& name) const;

 signals:
  /// Some steps were added since the last signal. Emitted on the thread of this object.
  void changed();

 private:
  std::uint64_t bytes() const;
  void keep_within_limits(const std::string& newest);

  const LiveLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, LiveStream> streams_;
  std::uint64_t steps_ = 0;         // that have come
  std::atomic<bool> told_ = false;  // changed() is on its way
};

/// Drops the step that is missed least: neither the first nor the last, but one of those that are
/// closest together for their age. Returns false if there are fewer than three.
bool thin_out(LiveStream& stream);

}  // namespace fovea
