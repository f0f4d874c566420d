// Blocks of matrices of 256 KiB and more that were freed are kept for the next of the same size
// (data/matrix.h). Those of 2 MiB and more begin at the boundary of a huge page.
#pragma once

#include <cstddef>

namespace fovea {

/// Returns what is kept to the system.
void free_kept_blocks();

/// Bytes of these blocks, in use or kept. The heaps of the C library do not count them. 0 under the
/// address sanitizer.
std::size_t mapped_matrix_bytes();

}  // namespace fovea
