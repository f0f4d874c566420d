// Entries of tree attention's P, and its pixels without evaluating pairs.
#pragma once

#include <cuda_runtime.h>

#include "data/pixels.h"
#include "nodes/node_search.h"

namespace fovea::cuda {

/// Where every query and key is in the tree.
struct NodePairs {
  std::int32_t queries = 0, offset = 0;  // query i is token i + offset of the keys
  int depths = 1;
  bool causal = false;
  const Range32* keys = nullptr;        // of the slots, positions in leaf order
  const std::int32_t* place = nullptr;  // [nk] of every key its position in leaf order
  QueryNodes nodes;
};

struct NodeEntriesArgs {
  NodePairs pairs;
  Range32 rows, cols;
  const std::int32_t* drawn = nullptr;  // query of row r; none means rows.begin + r
  int weighted = 0;                     // the depth nearest the root whose alpha is not 0
  float elsewhere =
      0;  // for pairs that share no node at that depth or below, to which the plan gives no weight
  float* out = nullptr;
  int stride = 0;
};

void node_entries(const NodeEntriesArgs& args, cudaStream_t stream);

/// Some pixel columns of an even grid over keys.
struct PixelColumns {
  Range32 keys;              // of the whole grid
  std::int32_t of_grid = 1;  // columns of the whole grid
  std::int32_t first = 0, count = 0;

  __host__ __device__ std::int32_t boundary(std::int32_t column) const {
    return keys.begin +
           static_cast<std::int32_t>(pixel_begin(first + column, keys.end - keys.begin, of_grid));
  }
};

/// bound[slot][c] = keys of the slot before boundary c, for the slots of one depth.
struct BoundArgs {
  PixelColumns columns;
  Range32 slots;
  const Range32* keys = nullptr;        // of the slots, positions in `order`
  const std::int32_t* order = nullptr;  // [nk] of the depth
  std::int32_t* bound = nullptr;        // [slots, columns.count + 1]
};

void count_before(const BoundArgs& args, cudaStream_t stream);

/// partial[band][column] = the largest entry, or the sum of the entries, of a band of queries.
struct BandArgs {
  NodePairs pairs;
  PixelColumns columns;
  const std::int32_t* bound = nullptr;
  const Range32* bands = nullptr;  // of queries
  std::int32_t count = 0;          // of bands
  bool maximum = false;
  double* partial = nullptr;  // [count, columns.count]
};

void pool_bands(const BandArgs& args, cudaStream_t stream);

/// Pixels from the bands of their rows; a mean is over all entries of the pixel.
struct PixelArgs {
  PixelColumns columns;
  const Range32* bands = nullptr;     // of queries
  const Range32* bands_of = nullptr;  // of each pixel row
  std::int32_t rows = 0;
  bool maximum = false;
  const double* partial = nullptr;
  float* pixels = nullptr;  // [rows, stride]
  int stride = 0;
};

void pool_pixels(const PixelArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
