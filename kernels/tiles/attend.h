// attend is the streaming softmax over query tiles, in fp32. It never holds more of P than one KV
// tile of 64 keys.
#pragma once

#include <cuda_runtime.h>

#include <array>

#include "tiles/query_tile_args.h"
#include "tiles/segments.h"

namespace fovea::cuda {

struct AttendArgs {
  QueryTileArgs tiles;
  Rows v;                    // the same rows as K
  int dv = 0;                // columns of V and Z: at most 256, a multiple of 4; 0: sums only
  float* z = nullptr;        // [state rows, z_stride]
  int z_stride = 0;          // a multiple of 4
  float* maximum = nullptr;  // [state rows], log2 units
  float* sum = nullptr;      // [state rows]; 0: no key so far; then z and maximum are not read
  bool last = false;  // each row's only query tile, unless it is a part: z is divided by its sum
  /// Written if `pixel` is not 0. Then dv <= 128, and the keys are in sequence order without gaps.
  SegmentArgs segments = {};
};

/// Query tiles have at most so many queries.
inline constexpr std::array<int, 3> query_tile_heights{16, 64, 128};

/// Dynamic shared memory of a block, for a head dimension d.
std::size_t attend_shared_bytes(int height, int d);

/// For query tiles of at most `height` queries; height 128 takes dv <= 64. Each merges its result
/// into the state of its queries.
void attend(const AttendArgs& args, int height, cudaStream_t stream);

}  // namespace fovea::cuda
