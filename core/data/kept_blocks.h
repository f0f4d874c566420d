// Large blocks of matrices that were freed are kept for the next of the same size (data/matrix.h).
#pragma once

namespace fovea {

/// Returns what is kept to the system.
void free_kept_blocks();

}  // namespace fovea
