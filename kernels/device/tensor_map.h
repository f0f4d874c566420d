// A tensor map tells the tensor memory accelerator of a device how a matrix lies in its memory.
#pragma once

#include <cuda.h>

#include "data/matrix.h"
#include "device/matrix_16.h"

namespace fovea::cuda {

/// The map of `rows` rows, for boxes of 64 columns and `box_rows` rows (copy_box_async). Throws
/// UnavailableError where the driver refuses it.
CUtensorMap tensor_map(Rows16 matrix, Index rows, Precision precision, int box_rows);

}  // namespace fovea::cuda
