#include "tiles/slices.h"

#include <algorithm>

#include "device/check.h"

namespace fovea::cuda {
namespace {

// Pairs of query and key in one launch: a few milliseconds on a large GPU, whose tensor cores have
// ten times as many products of 16 bits in a second as its fp32 lanes.
double pairs_of_launch(Precision precision) {
  if (precision == Precision::fp32) return 5e8;
  return precision == Precision::fp32_split ? 5e9 / 3 : 5e9;  // three products for each
}

}  // namespace

Slices::Slices(const Device& device, const QueryTileList& list, Index wave, Run& run,
               Timeline::Stage& stage, Precision precision, Index most_tiles)
    : device_(device),
      list_(list),
      run_(run),
      stage_(stage),
      wave_(wave),
      most_tiles_(most_tiles > 0 ? most_tiles : std::ssize(list.tiles)),
      pairs_per_launch_(pairs_of_launch(precision)) {}

Slices::~Slices() {
  for (const Launched& launched : launched_) cudaEventDestroy(launched.done);
}

void Slices::wait_for_oldest() {
  const Launched oldest = launched_.front();
  launched_.pop_front();
  pairs_under_way_ -= oldest.pairs;
  const cudaError_t error = cudaEventSynchronize(oldest.done);
  cudaEventDestroy(oldest.done);
  check(error, "waiting for the device");
  run_.reached(static_cast<double>(oldest.end) / static_cast<double>(list_.tiles.size()));
}

QueryTileRange Slices::next() {
  while (round_ < list_.rounds.size() && at_ == list_.rounds[round_].last) ++round_;
  if (round_ == list_.rounds.size()) {
    run_.check();
    return {};
  }
  if (open_pairs_) {
    stage_.end_part();
    cudaEvent_t done = nullptr;
    check(cudaEventCreate(&done), "creating an event");
    launched_.push_back({done, at_, *open_pairs_});
    pairs_under_way_ += *open_pairs_;
    open_pairs_.reset();
    check(cudaEventRecord(done, device_.stream()), "recording an event");
  }
  while (launched_.size() > 1 && pairs_under_way_ >= 2 * pairs_per_launch_) wait_for_oldest();
  run_.check();
  return take();
}

QueryTileRange Slices::take() {
  QueryTileRange range{at_, at_};
  double pairs = 0;
  Index whole = 0;  // query tiles of the waves so far
  while (range.last < list_.rounds[round_].last) {
    const Index after = list_.after(range.last), count = after - at_;
    const bool full = count > most_tiles_ || (count > whole && pairs >= pairs_per_launch_);
    if (full && range.last > at_) break;
    whole = std::max(whole, (count + wave_ - 1) / wave_ * wave_);
    for (; range.last < after; ++range.last) {
      const QueryTile& tile = list_.tiles[range.last];
      pairs += static_cast<double>(tile.keys) * tile.row_count;
    }
  }
  at_ = range.last;
  open_pairs_ = pairs;
  return range;
}

}  // namespace fovea::cuda
