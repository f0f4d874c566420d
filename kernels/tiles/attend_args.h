// AttendArgs are what the kernels of attention have in common: query tiles, and where their results
// go. What they compute with depends on the precision.
#pragma once

#include <array>
#include <cstdint>

#include "tiles/segments.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

/// A device matrix as the kernels read it: rows `stride` floats apart, a multiple of 4.
struct Rows {
  const float* data = nullptr;
  int stride = 0;
};

/// The rule and the mask of a head (data/logit_rule.h, data/pair_mask.h); null if there is none of
/// the kind.
struct HeadConditions {
  float log2_cap = 0;  // in log2 units; 0 if none
  const float* by_distance = nullptr;
  const float* by_key = nullptr;
  const float* bias = nullptr;  // [keys, bias_stride]
  std::int64_t bias_stride = 0;
  const std::int32_t* query_document = nullptr;
  const std::int32_t* key_document = nullptr;
  const std::uint32_t* bits = nullptr;  // [queries, bits_stride]
  std::int64_t bits_stride = 0;
  std::int32_t keys = 0;
  bool changes = false;   // logits
  bool excludes = false;  // pairs
};

/// The arrays that query tiles and runs refer to.
struct Lists {
  const ColumnRun* runs = nullptr;
  const std::int32_t* indices = nullptr;
  const float* weights = nullptr;
  const std::int32_t* chunks = nullptr;
  std::int32_t n = 0;  // queries: as many as keys where there are chunks
  HeadConditions head;
};

/// Query tiles, with what their orders and runs refer to.
struct QueryTiles {
  const QueryTile* tiles = nullptr;
  int count = 0;
  Lists lists;
};

/// The states of streaming softmaxes, which tiles of the same query leave to one another.
struct SoftmaxStates {
  int dv = 0;                // columns of V and Z, a multiple of 4; 0 means sums only
  float* z = nullptr;        // [state rows, z_stride]
  int z_stride = 0;          // a multiple of 4
  float* maximum = nullptr;  // [state rows], log2 units
  float* sum = nullptr;      // [state rows]; 0 if no key so far; then z and maximum are not read
  /// The tiles have all keys of their queries: no state is read, and z is divided by the sum. Parts
  /// of tiles only write their states, which are joined later (join_parts.h).
  bool last = false;
};

struct AttendArgs {
  SoftmaxStates states;
  int d = 0;  // columns of Q and K
  QueryTiles queries;
  /// Written if `pixel` is not 0. Then dv <= 128, and the keys are in sequence order without gaps.
  SegmentArgs segments = {};
};

/// Upper bounds on the queries of a tile: the heights for which there are kernels.
inline constexpr std::array<int, 3> query_tile_heights{16, 64, 128};

/// Q, K and V in fp32, levels of their pyramids one after another.
struct Fp32Operands {
  Rows q, k, v;          // V has the rows of K
  float log2_scale = 0;  // logits in log2 units are log2_scale q.k
};

}  // namespace fovea::cuda
