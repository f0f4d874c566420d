#include "tiles/row_maps.h"

#include <algorithm>
#include <cmath>

namespace fovea::cuda {
namespace {

// Bytes for segments: enough for a wave of a large device with a thousand columns.
constexpr Index most_bytes = Index{288} << 20;

}  // namespace

RowMaps::RowMaps(const Device& device, const ResidentQueryTiles& tiles, Index keys, Index pixel)
    : device_(device),
      rows_(tiles.rows),
      height_(tiles.height),
      wave_(tiles.wave),
      blocks_(std::ssize(tiles.list.tiles)),
      keys_(keys),
      pixel_(std::min(pixel, std::max(tiles.rows.end, keys))),
      columns_((keys + pixel_ - 1) / pixel_),
      map_rows_((rows_.size() + pixel_ - 1) / pixel_),
      most_(device, static_cast<std::size_t>(map_rows_ * columns_)),
      sum_(device, static_cast<std::size_t>(map_rows_ * columns_)),
      uploaded_(device) {
  clear();
  for (Index block = 0; block < blocks_;) {
    const Index after = tiles.list.after(block);
    first_blocks_.push_back(static_cast<std::int32_t>(block));
    most_parts_ = std::max(most_parts_, after - block);
    block = after;
  }
  first_blocks_.push_back(static_cast<std::int32_t>(blocks_));
  first_block_ = {device, std::span<const std::int32_t>(first_blocks_)};
}

Index RowMaps::reserve() {
  const Index of_block = height_ * columns_, most = most_bytes / Index{sizeof(float2)} / of_block;
  Index blocks = std::max(most_parts_, std::min({most, blocks_, wave_}));
  for (;; blocks = std::max(blocks / 2, most_parts_)) try {
      found_ = {device_, static_cast<std::size_t>(blocks * of_block)};
      seen_ = {device_, static_cast<std::size_t>(blocks)};
      return blocks;
    } catch (const UnavailableError&) {
      if (blocks == most_parts_) throw;
    }
}

SegmentArgs RowMaps::segments() const {
  return {static_cast<int>(pixel_), static_cast<int>(columns_), found_.data(), seen_.data()};
}

void RowMaps::add(Index tile, Index first, Index rows, const float* log2_sum) {
  const auto at = std::ranges::lower_bound(first_blocks_, tile) - first_blocks_.begin();
  pool_segments({.segments = segments(),
                 .first_block = first_block_.data() + at,
                 .height = height_,
                 .first = first,
                 .rows = rows,
                 .log2_sum = log2_sum,
                 .most = most_.data(),
                 .sum = sum_.data()},
                device_.stream());
}

void RowMaps::clear() {
  most_.clear();
  sum_.clear();
}

void RowMaps::download(RowsOutput& to) const {
  std::vector<double> sums(sum_.size());
  to.most = Matrix(map_rows_, columns_);
  to.mean = Matrix(map_rows_, columns_);
  sum_.download(sums.data(), sums.size());
  most_.download(to.most.data(), most_.size());
  device_.wait();
  const auto extent = [this](Index pixel, Index size) {
    return std::min(pixel_, size - pixel * pixel_);
  };
  for (Index r = 0; r < map_rows_; ++r)
    for (Index c = 0; c < columns_; ++c) {
      const double sum = sums[r * columns_ + c];
      to.mean(r, c) =
          static_cast<float>(sum / static_cast<double>(extent(r, rows_.size()) * extent(c, keys_)));
      // A query is not finite, which both maps show.
      if (std::isnan(sum)) to.most(r, c) = static_cast<float>(sum);
    }
}

}  // namespace fovea::cuda
