#include "tiles/slices.h"

#include <algorithm>

#include "device/check.h"

namespace fovea::cuda {
namespace {

// Pairs of query and key in one launch: some milliseconds of a large GPU.
constexpr double pairs_per_launch = 5e8;
constexpr std::size_t most_under_way = 2;

}  // namespace

// As many as are under way at a time: of blocks that want most of a multiprocessor's memory or
// registers two.
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

double Slices::pairs(const Strip& strip) const {
  double keys = 0;
  for (std::int32_t r = strip.first_run; r < strip.last_run; ++r) {
    const ColumnRun& run = strips_.runs[static_cast<std::size_t>(r)];
    keys += run.end - run.begin;
  }
  return keys * strip.row_count;
}

void Slices::wait_for_oldest() {
  const Launched oldest = launched_.front();
  launched_.pop_front();
  const cudaError_t error = cudaEventSynchronize(oldest.done);
  cudaEventDestroy(oldest.done);
  check(error, "waiting for the device");
  if (run_.progress)
    run_.progress->fraction =
        static_cast<double>(oldest.end) / static_cast<double>(strips_.strips.size());
}

StripRange Slices::next() {
  if (open_) {
    cudaEvent_t done = nullptr;
    check(cudaEventCreate(&done), "making an event");
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
  const Index last = std::min(strips_.rounds[round_].last, at_ + most_strips_),
              busy = std::min(last, at_ + busy_strips(device_));
  while (range.last < last && (work < pairs_per_launch || range.last < busy))
    work += pairs(strips_.strips[static_cast<std::size_t>(range.last++)]);
  at_ = range.last;
  open_ = true;
  return range;
}

}  // namespace fovea::cuda
