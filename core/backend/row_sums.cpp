#include "backend/row_sums.h"

#include <algorithm>
#include <iterator>

#include "backend/dense_sweep.h"
#include "backend/tile_sweep.h"

namespace fovea {
namespace {

// Multiply-adds of a thread that take a tenth of a second without vectors.
constexpr Index work_to_end = Index{1} << 30;

}  // namespace

Index RowSums::unknown_of(std::span<const std::int32_t> queries) const {
  return std::ranges::count_if(queries, [&](std::int32_t i) { return !known_[i]; });
}

void RowSums::find(const BoundTiles& tiles, std::span<const std::int32_t> queries, Workers& workers,
                   Run& run) {
  if (unknown_of(queries) == 0) return;
  if (!tiles.dense()) {
    keep_all(
        TileSweep(tiles, {nullptr, tiles.lengths().keys, 0, 0}, workers, run).attend().log2_sums);
    return;
  }
  std::vector<std::int32_t> unknown;
  std::ranges::copy_if(queries, std::back_inserter(unknown),
                       [&](std::int32_t i) { return !known_[i]; });
  find_in_pieces(tiles, unknown, workers, run);
}

// Each thread takes a strip at a time. Pieces of some 10 ms are finished rather than cancelled, so
// that a person who pans quickly still gets rows.
void RowSums::find_in_pieces(const BoundTiles& tiles, std::span<const std::int32_t> queries,
                             Workers& workers, Run& run) {
  const Index piece = isa::usual_lanes * workers.threads(), count = std::ssize(queries);
  const Index work = isa::usual_lanes * tiles.lengths().keys * tiles.d();
  Run quiet = run.quiet();
  if (work <= work_to_end) quiet.stop = {};
  const auto stage = run.profile.stage("sums");
  for (Index begin = 0; begin < count; begin += piece) {
    run.check();
    const auto some = queries.subspan(begin, std::min(piece, count - begin));
    const DenseSweep::Request request{.queries = some};
    keep(some, DenseSweep(tiles, request, workers, quiet).attend().log2_sums);
    run.reached(static_cast<double>(begin + std::ssize(some)) / static_cast<double>(count));
  }
}

void RowSums::keep_all(std::vector<float> log2_sums) {
  if (unknown_ == 0) return;
  log2_sums_ = std::move(log2_sums);
  known_.assign(log2_sums_.size(), true);
  unknown_ = 0;
}

void RowSums::keep(std::span<const std::int32_t> queries, std::span<const float> log2_sums) {
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const std::int32_t i = queries[q];
    log2_sums_[i] = log2_sums[q];
    if (known_[i]) continue;
    known_[i] = true;
    --unknown_;
  }
}

}  // namespace fovea
