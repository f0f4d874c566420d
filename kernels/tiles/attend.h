// attend is the streaming softmax over query tiles, in fp32. It never holds more of P than one KV
// tile of 64 keys.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "tiles/attend_args.h"

namespace fovea::cuda {

/// Dynamic shared memory of a block, for a head dimension d, on a device whose blocks have at most
/// `shared_per_block` bytes. Where these are few, blocks use less and are slower by themselves.
std::size_t attend_shared_bytes(int height, int d, std::size_t shared_per_block);

/// For query tiles of at most `height` queries, dv <= 256, and dv <= 64 for height 128. Each merges
/// its result into the state of its queries.
void attend(const AttendArgs& args, const Fp32Operands& operands, int height,
            std::size_t shared_per_block, cudaStream_t stream);

}  // namespace fovea::cuda
