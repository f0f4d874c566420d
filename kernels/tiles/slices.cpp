#include "tiles/slices.h"

#include <algorithm>

#include "device/check.h"
#include "tiles/divided_query_tiles.h"

namespace fovea::cuda {
namespace {

// Pairs of query and key in one launch: a few milliseconds on a large GPU.
constexpr double pairs_per_launch = 5e8;
constexpr std::size_t most_under_way = 2;

}  // namespace

// As many as run at a time: two blocks on each multiprocessor, of which each needs almost half of
// the memory or the registers.
Index busy_query_tiles(const Device& device) {
  return Index{2} * device.multiprocessors();
}

Slices::Slices(const Device& device, const QueryTileList& list, Run& run, Index most_tiles)
    : device_(device),
      list_(list),
      run_(run),
      most_tiles_(most_tiles > 0 ? most_tiles : std::ssize(list.tiles)) {}

Slices::~Slices() {
  for (const Launched& launched : launched_) cudaEventDestroy(launched.done);
}

void Slices::wait_for_oldest() {
  const Launched oldest = launched_.front();
  launched_.pop_front();
  const cudaError_t error = cudaEventSynchronize(oldest.done);
  cudaEventDestroy(oldest.done);
  check(error, "waiting for the device");
  run_.reached(static_cast<double>(oldest.end) / static_cast<double>(list_.tiles.size()));
}

QueryTileRange Slices::next() {
  if (open_) {
    cudaEvent_t done = nullptr;
    check(cudaEventCreate(&done), "creating an event");
    launched_.push_back({done, at_});
    check(cudaEventRecord(done, device_.stream()), "recording an event");
    open_ = false;
  }
  while (launched_.size() >= most_under_way) wait_for_oldest();
  run_.check();
  while (round_ < list_.rounds.size() && at_ == list_.rounds[round_].last) ++round_;
  if (round_ == list_.rounds.size()) return {};
  QueryTileRange range{at_, at_};
  double work = 0;
  const Index last = list_.rounds[round_].last, busy = at_ + busy_query_tiles(device_);
  while (range.last < last && (work < pairs_per_launch || range.last < busy)) {
    const Index after = list_.after(range.last);
    if (after > at_ + most_tiles_ && range.last > at_) break;
    for (; range.last < after; ++range.last) {
      const QueryTile& tile = list_.tiles[range.last];
      work += static_cast<double>(keys_of(tile, list_.runs)) * tile.row_count;
    }
  }
  at_ = range.last;
  open_ = true;
  return range;
}

}  // namespace fovea::cuda
