// coarsen makes levels 1 .. top of a pyramid of means behind its level 0.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

/// rows: [pyramid_rows(n, top + 1), stride], the first n of them given. The mean of a cluster is
/// over the tokens that it really has, from the two means below it.
void coarsen(float* rows, Index n, int stride, int top, cudaStream_t stream);

}  // namespace fovea::cuda
