// fill sets device memory to a value.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

void fill(float* values, Index count, float value, cudaStream_t stream);

}  // namespace fovea::cuda
