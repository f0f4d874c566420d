#include "device/cells.cuh"
#include "device/launch.h"
#include "nodes/node_entries.h"

namespace fovea::cuda {
namespace {

constexpr int node_entry_threads = 128;

// A key shares the query's nodes down to the last one whose range contains its place.
// 22 registers, 16 blocks on a multiprocessor. Bound by latency: it goes down a path of nodes.
__global__ void __launch_bounds__(node_entry_threads) node_entries_kernel(const NodeEntriesArgs a) {
  const Index cell = own_cell<node_entry_threads>(), cols = a.cols.end - a.cols.begin;
  const Index row = cell / cols, j = a.cols.begin + cell % cols;
  if (row >= a.rows.end - a.rows.begin) return;
  const Index i = a.drawn ? a.drawn[row] : a.rows.begin + row;
  const NodePairs& p = a.pairs;
  float value = a.elsewhere;
  if (!p.causal || j <= i + p.offset) {
    const std::int32_t place = p.place[j];
    for (int depth = 0; depth < p.depths; ++depth) {
      const Index at = static_cast<Index>(depth) * p.queries + i;
      const std::int32_t slot = p.nodes.slot[at];
      if (slot < 0) break;
      const Range32 keys = p.keys[slot];
      if (place < keys.begin || place >= keys.end) break;
      if (depth >= a.weighted) value = p.nodes.path[at];
    }
  }
  a.out[row * a.stride + cell % cols] = value;
}

// 28 registers, 16 blocks on a multiprocessor. Bound by latency: a binary search.
__global__ void __launch_bounds__(node_entry_threads) bound_kernel(const BoundArgs a) {
  const Index cell = own_cell<node_entry_threads>(), boundaries = a.columns.count + 1;
  const Index slot = a.slots.begin + cell / boundaries;
  if (slot >= a.slots.end) return;
  const auto column = static_cast<std::int32_t>(cell % boundaries);
  const std::int32_t boundary = a.columns.boundary(column);
  const Range32 keys = a.keys[slot];
  std::int32_t begin = keys.begin, end = keys.end;
  while (begin < end) {
    const std::int32_t middle = begin + (end - begin) / 2;
    if (a.order[middle] < boundary)
      begin = middle + 1;
    else
      end = middle;
  }
  a.bound[slot * boundaries + column] = begin - keys.begin;
}

// The sum and the largest of some entries.
struct Pooled {
  double sum = 0;
  float largest = -INFINITY;

  __device__ void take(float value, std::int32_t times) {
    if (times == 0) return;
    sum += static_cast<double>(value) * times;
    largest = fmaxf(largest, value);
  }
};

// Entries of row i over the keys of a pixel column. The keys that leave the query's path below a
// depth are those inside its node but not inside the next. They share an entry, so their number is
// enough. With a mask, the keys of a node that may be attended are the first ones.
__device__ void pool_row(const BandArgs& a, Index i, std::int32_t column, Pooled& pooled) {
  const NodePairs& p = a.pairs;
  std::int32_t here = a.columns.boundary(column + 1) - a.columns.boundary(column);
  float value = 0;
  for (int depth = 0; depth < p.depths && here > 0; ++depth) {
    const Index at = static_cast<Index>(depth) * p.queries + i;
    const std::int32_t slot = p.nodes.slot[at];
    std::int32_t inside = 0;
    if (slot >= 0) {
      const std::int32_t admissible = p.nodes.count[at];
      const std::int32_t* bound =
          a.bound + static_cast<Index>(slot) * (a.columns.count + 1) + column;
      inside = min(bound[1], admissible) - min(bound[0], admissible);
    }
    pooled.take(value, here - inside);
    value = p.nodes.path[at];
    here = inside;
  }
  pooled.take(value, here);
}

// 32 registers, 16 blocks on a multiprocessor. Bound by latency: it goes down a path for each row.
__global__ void __launch_bounds__(node_entry_threads) band_kernel(const BandArgs a) {
  const Index cell = own_cell<node_entry_threads>(), band = cell / a.columns.count;
  if (band >= a.count) return;
  const auto column = static_cast<std::int32_t>(cell % a.columns.count);
  Pooled pooled;
  const Range32 rows = a.bands[band];
  for (Index i = rows.begin; i < rows.end; ++i) pool_row(a, i, column, pooled);
  a.partial[cell] = a.maximum ? static_cast<double>(pooled.largest) : pooled.sum;
}

// 32 registers, 16 blocks on a multiprocessor. Bound by memory: every band is read once.
__global__ void __launch_bounds__(node_entry_threads) pixel_kernel(const PixelArgs a) {
  const Index cell = own_cell<node_entry_threads>(), row = cell / a.columns.count;
  if (row >= a.rows) return;
  const auto column = static_cast<std::int32_t>(cell % a.columns.count);
  const Range32 bands = a.bands_of[row];
  double value = a.maximum ? -INFINITY : 0.0;
  for (Index band = bands.begin; band < bands.end; ++band) {
    const double part = a.partial[band * a.columns.count + column];
    value = a.maximum ? fmax(value, part) : value + part;
  }
  if (!a.maximum) {
    const double queries = a.bands[bands.end - 1].end - a.bands[bands.begin].begin,
                 keys = a.columns.boundary(column + 1) - a.columns.boundary(column);
    value /= queries * keys;
  }
  a.pixels[row * a.stride + a.columns.first + column] = static_cast<float>(value);
}

}  // namespace

void node_entries(const NodeEntriesArgs& args, cudaStream_t stream) {
  launch(node_entries_kernel,
         cells<node_entry_threads>(args.rows.end - args.rows.begin, args.cols.end - args.cols.begin,
                                   stream),
         args);
}

void count_before(const BoundArgs& args, cudaStream_t stream) {
  launch(
      bound_kernel,
      cells<node_entry_threads>(args.slots.end - args.slots.begin, args.columns.count + 1, stream),
      args);
}

void pool_bands(const BandArgs& args, cudaStream_t stream) {
  launch(band_kernel, cells<node_entry_threads>(args.count, args.columns.count, stream), args);
}

void pool_pixels(const PixelArgs& args, cudaStream_t stream) {
  launch(pixel_kernel, cells<node_entry_threads>(args.rows, args.columns.count, stream), args);
}

}  // namespace fovea::cuda
