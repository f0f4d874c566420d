#include "nodes/node_pixels.h"

#include <algorithm>

namespace fovea::cuda {
namespace {

constexpr std::int32_t queries_per_band = 64;
// Of keys before boundaries, and of bands: what is read again and again stays in a cache.
constexpr Index most_numbers = Index{1} << 22;
constexpr double looks_per_launch = 2e9;  // at nodes: some milliseconds of a large GPU

// The queries of every pixel row, cut into bands, so that few pixels keep many threads busy.
struct Bands {
  std::vector<Range> queries;
  std::vector<Range> of;  // of every pixel row
};

Bands cut_bands(IndexRange rows, const Pool& pool) {
  Bands bands;
  for (Index pixel = 0; pixel < pool.rows; ++pixel) {
    Index from = rows.begin + pixel * rows.size() / pool.rows,
          to = rows.begin + (pixel + 1) * rows.size() / pool.rows;
    if (pool.one_row) {
      from = drawn_row(rows, pool, pixel);
      to = from + 1;
    }
    const auto begin = static_cast<std::int32_t>(from), end = static_cast<std::int32_t>(to);
    const auto first = static_cast<std::int32_t>(bands.queries.size());
    for (std::int32_t at = begin; at < end; at += queries_per_band)
      bands.queries.push_back({at, std::min(at + queries_per_band, end)});
    bands.of.push_back({first, static_cast<std::int32_t>(bands.queries.size())});
  }
  return bands;
}

// Pixel columns that are made at a time.
Index columns_at_once(const NodeTables& tables, Index rows, Index bands) {
  const double looks = static_cast<double>(rows) * tables.depths();
  return std::max<Index>(1,
                         std::min({most_numbers / tables.slots().size() - 1, most_numbers / bands,
                                   static_cast<Index>(looks_per_launch / looks)}));
}

}  // namespace

void pool_nodes(const Device& device, const NodeTables& tables, IndexRange rows, Range cols,
                Pool pool, const DeviceMatrix& pixels, Run& run) {
  const Bands bands = cut_bands(rows, pool);
  const auto band_count = static_cast<Index>(bands.queries.size());
  const Buffer<Range> queries(device, std::span<const Range>(bands.queries)),
      bands_of(device, std::span<const Range>(bands.of));
  const Index step = std::min(
      pool.cols, columns_at_once(tables, pool.one_row ? pool.rows : rows.size(), band_count));
  const Buffer<std::int32_t> bound(device,
                                   static_cast<std::size_t>(tables.slots().size() * (step + 1)));
  const Buffer<double> partial(device, static_cast<std::size_t>(band_count * step));
  const bool maximum = pool.kind == Pool::Kind::max;
  for (Index first = 0; first < pool.cols; first += step) {
    run.check();
    const PixelColumns columns{cols, static_cast<std::int32_t>(pool.cols),
                               static_cast<std::int32_t>(first),
                               static_cast<std::int32_t>(std::min(step, pool.cols - first))};
    for (int depth = 0; depth < tables.depths(); ++depth) {
      const auto at = static_cast<std::size_t>(depth);
      count_before({.columns = columns,
                    .slots = {tables.slots().first[at], tables.slots().first[at + 1]},
                    .keys = tables.keys(),
                    .order = tables.order(depth),
                    .bound = bound.data()},
                   device.stream());
    }
    pool_bands({.pairs = tables.pairs(),
                .columns = columns,
                .bound = bound.data(),
                .bands = queries.data(),
                .count = static_cast<std::int32_t>(band_count),
                .maximum = maximum,
                .partial = partial.data()},
               device.stream());
    pool_pixels({.columns = columns,
                 .bands = queries.data(),
                 .bands_of = bands_of.data(),
                 .rows = static_cast<std::int32_t>(pool.rows),
                 .maximum = maximum,
                 .partial = partial.data(),
                 .pixels = pixels.data(),
                 .stride = pixels.stride()},
                device.stream());
    device.wait();
    if (run.progress)
      run.progress->fraction =
          static_cast<double>(first + columns.count) / static_cast<double>(pool.cols);
  }
}

}  // namespace fovea::cuda
