#include "device_operator.h"

#include <algorithm>
#include <cmath>

#include "compare.h"
#include "timeline.h"

namespace fovea::cuda {
namespace {

constexpr Index part_entries = Index{1} << 24;  // of either operator held at once: 64 MiB

DenseTile dense(const DeviceMatrix& tile) {
  return {tile.data(), tile.stride()};
}

}  // namespace

std::optional<Matrix> DeviceOperator::do_difference(const Operator& exact, IndexRange rows,
                                                    IndexRange cols, Pool pool, Difference kind,
                                                    Run& run) const {
  const auto* other = dynamic_cast<const DeviceOperator*>(&exact);
  if (!other || other->device_ != device_) return std::nullopt;
  if (pool.kind == Pool::Kind::none) pool = {Pool::Kind::mean, rows.size(), cols.size()};
  const bool mean = pool.kind == Pool::Kind::mean;
  const EntryRows wanted = entry_rows(rows, pool);
  const Index height = wanted.size();
  Buffer<double> pixels(*device_, static_cast<std::size_t>(pool.rows * pool.cols));
  pixels.clear();
  // Whole rows of the rectangle while they fit, else pieces of rows.
  const Index width = std::min(cols.size(), part_entries),
              step = std::clamp<Index>(part_entries / width, 1, height);
  Run quiet{run.profile, run.stop};
  for (Index i = 0; i < height; i += step)
    for (Index j = 0; j < cols.size(); j += width) {
      run.check();
      const IndexRange down{i, std::min(i + step, height)},
          across{j, std::min(j + width, cols.size())},
          its_cols{cols.begin + across.begin, cols.begin + across.end};
      const EntryRows its_rows = wanted.part(down);
      const DeviceMatrix q = device_tile(its_rows, its_cols, 0.0f, quiet),
                         p = other->device_tile(its_rows, its_cols, 0.0f, quiet);
      Timeline timeline(*device_);
      {
        const auto stage = timeline.stage("compare");
        pool_difference({.approximate = dense(q),
                         .exact = dense(p),
                         .rows = down,
                         .cols = across,
                         .rectangle_rows = height,
                         .rectangle_cols = cols.size(),
                         .grid_rows = pool.rows,
                         .grid_cols = pool.cols,
                         .kind = kind,
                         .mean = mean,
                         .pixels = pixels.data()},
                        device_->stream());
      }
      timeline.finish(run.profile);
      if (run.progress)
        run.progress->fraction = static_cast<double>(down.end) / static_cast<double>(height);
    }
  std::vector<double> sums(pixels.size());
  pixels.download(sums.data(), sums.size());
  device_->wait();
  Matrix out(pool.rows, pool.cols);
  const auto extent = [](Index pixel, Index size, Index count) {
    return static_cast<double>((pixel + 1) * size / count - pixel * size / count);
  };
  for (Index r = 0; r < pool.rows; ++r)
    for (Index c = 0; c < pool.cols; ++c) {
      const double area = extent(r, height, pool.rows) * extent(c, cols.size(), pool.cols);
      const double value = sums[static_cast<std::size_t>(r * pool.cols + c)];
      out(r, c) = static_cast<float>(mean ? value / area : value);
    }
  return out;
}

std::optional<std::vector<RowDifference>> DeviceOperator::do_compare_rows(const Operator& exact,
                                                                          IndexRange rows,
                                                                          Run& run) const {
  const auto* other = dynamic_cast<const DeviceOperator*>(&exact);
  if (!other || other->device_ != device_) return std::nullopt;
  const Index n = plan().n;
  const DeviceMatrix q = device_tile({rows}, {0, n}, -INFINITY, run),
                     p = other->device_tile({rows}, {0, n}, 0.0f, run);
  Buffer<RowDifference> found(*device_, static_cast<std::size_t>(rows.size()));
  Timeline timeline(*device_);
  {
    const auto stage = timeline.stage("compare");
    cuda::compare_rows(dense(q), dense(p), rows.size(), n, found.data(), device_->stream());
  }
  std::vector<RowDifference> out(static_cast<std::size_t>(rows.size()));
  found.download(out.data(), out.size());
  timeline.finish(run.profile);
  return out;
}

}  // namespace fovea::cuda
