#include "row_maps.h"

#include <algorithm>
#include <cmath>

#include "slices.h"

namespace fovea::cuda {
namespace {

// Bytes for segments: what keeps a large device busy at a thousand columns.
constexpr Index most_bytes = Index{288} << 20;

}  // namespace

RowMaps::RowMaps(const Device& device, const ResidentStrips& strips, Index n, Index pixel)
    : device_(device),
      rows_(strips.rows),
      height_(strips.height),
      n_(n),
      pixel_(pixel),
      columns_((n + pixel - 1) / pixel),
      map_rows_((rows_.size() + pixel - 1) / pixel),
      most_(device, static_cast<std::size_t>(map_rows_ * columns_)),
      sum_(device, static_cast<std::size_t>(map_rows_ * columns_)) {
  most_.clear();
  sum_.clear();
  const Index of_strip = height_ * columns_;
  strips_at_once_ =
      std::clamp<Index>(most_bytes / static_cast<Index>(sizeof(float2)) / of_strip, 1,
                        std::min(std::ssize(strips.list.strips), busy_strips(device)));
  // With less memory in smaller launches.
  for (;; strips_at_once_ /= 2) try {
      found_ = {device, static_cast<std::size_t>(strips_at_once_ * of_strip)};
      break;
    } catch (const UnavailableError&) {
      if (strips_at_once_ == 1) throw;
    }
  seen_ = {device, static_cast<std::size_t>(strips_at_once_)};
}

SegmentArgs RowMaps::segments() const {
  return {static_cast<int>(pixel_), static_cast<int>(columns_), found_.data(), seen_.data()};
}

void RowMaps::add(Index first, Index rows, const float* log2_sum) {
  pool_segments({.segments = segments(),
                 .height = height_,
                 .first = first,
                 .rows = rows,
                 .log2_sum = log2_sum,
                 .most = most_.data(),
                 .sum = sum_.data()},
                device_.stream());
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
      const double sum = sums[static_cast<std::size_t>(r * columns_ + c)];
      to.mean(r, c) =
          static_cast<float>(sum / static_cast<double>(extent(r, rows_.size()) * extent(c, n_)));
      // A query is not finite: both maps show it.
      if (std::isnan(sum)) to.most(r, c) = static_cast<float>(sum);
    }
}

}  // namespace fovea::cuda
