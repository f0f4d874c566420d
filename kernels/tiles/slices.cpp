#include "tiles/slices.h"

#include <algorithm>

#include "device/check.h"

namespace fovea::cuda {
namespace {

constexpr double launch_milliseconds = 8;  // half a frame of a display

}  // namespace

Slices::Slices(const Device& device, const QueryTileList& list, Index wave, Run& run,
               Timeline::Stage& stage, Precision precision, Index columns, Index most_tiles)
    : device_(device),
      list_(list),
      run_(run),
      stage_(stage),
      precision_(precision),
      wave_(wave),
      most_tiles_(most_tiles > 0 ? most_tiles : std::ssize(list.tiles)),
      pair_(static_cast<double>(columns) / 128) {}

Slices::Event Slices::record() const {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "creating an event");
  Event owned(event);
  check(cudaEventRecord(event, device_.stream()), "recording an event");
  return owned;
}

double Slices::wanted_pairs() const {
  return device_.pace().pairs_in(launch_milliseconds, precision_);
}

void Slices::wait_for_oldest() {
  const Launch oldest = std::move(launched_.front());
  launched_.pop_front();
  pairs_under_way_ -= oldest.pairs;
  check(cudaEventSynchronize(oldest.end.get()), "waiting for the device");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, oldest.begin.get(), oldest.end.get()),
        "reading an event");
  device_.pace().note(precision_, oldest.pairs, static_cast<double>(milliseconds));
  run_.reached(static_cast<double>(oldest.after) / static_cast<double>(list_.tiles.size()));
}

QueryTileRange Slices::next() {
  while (round_ < list_.rounds.size() && at_ == list_.rounds[round_].last) ++round_;
  if (round_ == list_.rounds.size()) {
    run_.check();
    return {};
  }
  if (open_) {
    stage_.end_part();
    open_->end = record();
    pairs_under_way_ += open_->pairs;
    launched_.push_back(std::move(*open_));
    open_.reset();
  }
  while (launched_.size() > 1 && pairs_under_way_ >= 2 * wanted_pairs()) wait_for_oldest();
  run_.check();
  double pairs = 0;
  const QueryTileRange range = take(pairs);
  open_ = Launch{record(), nullptr, range.last, pairs};
  return range;
}

// Whole waves until they have as many pairs as are wanted. The parts of a query tile stay together.
QueryTileRange Slices::take(double& pairs) {
  const double wanted = wanted_pairs();
  QueryTileRange range{at_, at_};
  Index in_waves = 0;  // query tiles that the waves which have begun have room for
  while (range.last < list_.rounds[round_].last) {
    const Index after = list_.after(range.last), with_next = after - at_;
    const bool enough = with_next > most_tiles_ || (with_next > in_waves && pairs >= wanted);
    if (enough && range.last > at_) break;
    in_waves = std::max(in_waves, (with_next + wave_ - 1) / wave_ * wave_);
    for (; range.last < after; ++range.last) {
      const QueryTile& tile = list_.tiles[range.last];
      pairs += pair_ * static_cast<double>(tile.keys) * tile.row_count;
    }
  }
  at_ = range.last;
  return range;
}

}  // namespace fovea::cuda
