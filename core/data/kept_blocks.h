// Blocks of matrices of 256 KiB and more that were freed are kept for the next of the same size
// (data/matrix.h). Those of 2 MiB and more begin at the boundary of a huge page.
#pragma once

#include <cstddef>

namespace fovea {

/// Returns what is kept to the system.
void free_kept_blocks();

/// Bytes of these blocks, in use or kept, which no heap of the C library counts; 0 for the address
/// sanitizer.
std::size_t mapped_matrix_bytes();

}  // namespace fovea
