// attend is the streaming softmax over strips of queries, in fp32. It never holds more of P than
// one step of 64 keys.
#pragma once

#include <cuda_runtime.h>

#include <array>

#include "tiles/segments.h"
#include "tiles/strip_args.h"

namespace fovea::cuda {

struct AttendArgs {
  StripArgs strips;
  Rows v;                    // the same rows as K
  int dv = 0;                // columns of V and Z: at most 256, a multiple of 4; 0: sums only
  float* z = nullptr;        // [state rows, z_stride]
  int z_stride = 0;          // a multiple of 4
  float* maximum = nullptr;  // [state rows], log2 units
  float* sum = nullptr;      // [state rows]; 0: no key so far; then z and maximum are not read
  bool last = false;         // each row's only strip, unless it is a part: z is divided by its sum
  /// Written if `pixel` is not 0. Then dv <= 128, and the keys are in sequence order without gaps.
  SegmentArgs segments = {};
};

/// Most queries of a strip.
inline constexpr std::array<int, 3> strip_heights{16, 64, 128};

/// Dynamic shared memory of a block, for a head dimension d.
std::size_t attend_shared_bytes(int height, int d);

/// Strips [strips.first, strips.first + strips.count), none longer than `height`; height 128 takes
/// dv <= 64. Each merges its result into the state of its queries.
void attend(const AttendArgs& args, int height, cudaStream_t stream);

}  // namespace fovea::cuda
