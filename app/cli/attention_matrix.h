// An attention matrix from a file, offered as an operator so that it is looked at like a computed one.
#pragma once

#include <memory>

#include "engine/computation.h"

namespace fovea {

Matrix part_of(MatrixView matrix, IndexRange rows, IndexRange cols);

/// Its tiles are the matrix's entries. The matrix is square and belongs to `variant` only by name.
Computation computation_of(Matrix attention);

}  // namespace fovea
