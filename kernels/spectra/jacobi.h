// jacobi finds the singular values of many small matrices by one-sided Jacobi rotations, one block
// of threads each.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fovea::cuda {

/// Largest side of a matrix here.
inline constexpr int jacobi_side = 64;

/// Where a matrix and its values are in the arrays that all matrices of a launch share.
struct SmallBlock {
  std::int64_t entries;     // of the first; row-major
  std::int32_t rows, cols;  // at most jacobi_side each
  std::int32_t stride;
  std::int64_t values;  // of the first of min(rows, cols), descending
};

struct SmallBlocks {
  const SmallBlock* blocks = nullptr;
  int count = 0;
  int side = 0;  // of the largest among them
};

/// In float: each value is within 1e-6 |A|_F, since a vector takes part in some 570 rotations (63 a
/// sweep) whose rounding errors, 3e-8 each, add up like a random walk. NaN where an entry is not
/// finite.
void jacobi(const SmallBlocks& blocks, const float* entries, float* values, cudaStream_t stream);

/// The roots of the singular values of Gram matrices, given in double, each within 3e-8 of the
/// largest. A block of no rows has no values.
void jacobi_of_gram(const SmallBlocks& blocks, const double* entries, float* values,
                    cudaStream_t stream);

}  // namespace fovea::cuda
