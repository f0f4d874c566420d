#include "tiles/slices.h"

#include <algorithm>

#include "device/check.h"
#include "tiles/divided_strips.h"

namespace fovea::cuda {
namespace {

// Pairs of query and key in one launch: a few milliseconds on a large GPU.
constexpr double pairs_per_launch = 5e8;
constexpr std::size_t most_under_way = 2;

}  // namespace

// As many as run at a time: two blocks on each multiprocessor, of which each needs almost half of
// the memory or the registers.
Index busy_strips(const Device& device) {
  return Index{2} * device.multiprocessors();
}

Slices::Slices(const Device& device, const StripList& strips, Run& run, Index most_strips)
    : device_(device),
      strips_(strips),
      run_(run),
      most_strips_(most_strips > 0 ? most_strips : std::ssize(strips.strips)) {}

Slices::~Slices() {
  for (const Launched& launched : launched_) cudaEventDestroy(launched.done);
}

void Slices::wait_for_oldest() {
  const Launched oldest = launched_.front();
  launched_.pop_front();
  const cudaError_t error = cudaEventSynchronize(oldest.done);
  cudaEventDestroy(oldest.done);
  check(error, "waiting for the device");
  run_.reached(static_cast<double>(oldest.end) / static_cast<double>(strips_.strips.size()));
}

StripRange Slices::next() {
  if (open_) {
    cudaEvent_t done = nullptr;
    check(cudaEventCreate(&done), "creating an event");
    launched_.push_back({done, at_});
    check(cudaEventRecord(done, device_.stream()), "recording an event");
    open_ = false;
  }
  while (launched_.size() >= most_under_way) wait_for_oldest();
  run_.check();
  while (round_ < strips_.rounds.size() && at_ == strips_.rounds[round_].last) ++round_;
  if (round_ == strips_.rounds.size()) return {};
  StripRange range{at_, at_};
  double work = 0;
  const Index last = strips_.rounds[round_].last, busy = at_ + busy_strips(device_);
  while (range.last < last && (work < pairs_per_launch || range.last < busy)) {
    const Index after = strips_.after(range.last);
    if (after > at_ + most_strips_ && range.last > at_) break;
    for (; range.last < after; ++range.last) {
      const Strip& strip = strips_.strips[range.last];
      work += static_cast<double>(keys_of(strip, strips_.runs)) * strip.row_count;
    }
  }
  at_ = range.last;
  open_ = true;
  return range;
}

}  // namespace fovea::cuda
