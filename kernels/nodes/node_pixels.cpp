#include "nodes/node_pixels.h"

#include <algorithm>

#include "data/pixels.h"

namespace fovea::cuda {
namespace {

constexpr std::int32_t queries_per_band = 64;
// Most numbers of keys before boundaries, and of bands: they are read many times, from the cache.
constexpr Index most_numbers = Index{1} << 22;
constexpr double looks_per_launch = 2e9;  // at nodes: a few milliseconds on a large GPU

// The queries of each pixel row, cut into bands, so that even few pixels keep many threads busy.
struct Bands {
  std::vector<Range32> queries;
  std::vector<Range32> of;  // of every pixel row
};

Bands cut_bands(IndexRange rows, const Pool& pool) {
  Bands bands;
  for (Index pixel = 0; pixel < pool.rows; ++pixel) {
    IndexRange queries = pixel_tokens(pixel, rows, pool.rows);
    if (pool.one_row) {
      queries.begin = drawn_row(rows, pool, pixel);
      queries.end = queries.begin + 1;
    }
    const auto begin = static_cast<std::int32_t>(queries.begin),
               end = static_cast<std::int32_t>(queries.end);
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

void pool_nodes(const Device& device, const NodeTables& tables, IndexRange rows, Range32 cols,
                Pool pool, const DeviceMatrix& pixels, Run& run) {
  const Bands bands = cut_bands(rows, pool);
  const Device::WaitAtEnd uploaded(device);
  const auto band_count = std::ssize(bands.queries);
  const Buffer<Range32> queries(device, std::span<const Range32>(bands.queries)),
      bands_of(device, std::span<const Range32>(bands.of));
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
    run.reached(static_cast<double>(first + columns.count) / static_cast<double>(pool.cols));
  }
}

}  // namespace fovea::cuda
