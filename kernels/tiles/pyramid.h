// coarsen makes levels 1 .. top of a pyramid of means, which follow its level 0 in memory.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

/// rows: [pyramid_rows(n, top + 1), stride], of which the first n are given. The mean of a cluster
/// is that of the tokens it has, made from the two means below it.
void coarsen(float* rows, Index n, int stride, int top, cudaStream_t stream);

}  // namespace fovea::cuda
