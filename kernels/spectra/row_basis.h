// row_basis finds an orthonormal basis of the rows of matrices, a row a step: a QR decomposition of
// the transpose with pivoting, stopped where next to nothing is left. In double, with which the
// squares of what is left can be counted down; the matrices themselves are only read.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "spectra/jacobi.h"

namespace fovea::cuda {

/// Largest side of a matrix here.
inline constexpr int basis_side = 2048;

/// Steps, and so the largest rank found: what jacobi takes of the coefficients' Gram matrix.
inline constexpr int most_rank = jacobi_side;

/// A matrix and its workspace, in arrays that all of a launch share.
struct LargeBlock {
  std::int64_t entries;  // of floats, row-major
  std::int32_t rows, cols;
  std::int64_t basis;         // of doubles: [most_rank, cols]
  std::int64_t coefficients;  // [most_rank, rows]: of the rows in the basis
  std::int64_t rest;          // [rows]: squares of what the basis lacks of them
};

enum class BasisState : std::int32_t { growing, complete, rank_too_high, not_finite };

/// Of a matrix, as far as it is.
struct BasisProgress {
  double total, left;  // squares of all entries, and of what the basis lacks
  BasisState state;
  std::int32_t rank;
  std::int32_t pivot;  // the row of the last step
};

struct RowBasisArgs {
  const LargeBlock* blocks = nullptr;
  int count = 0;
  int rows = 0, cols = 0;  // the most among them
  const float* entries = nullptr;
  double* workspace = nullptr;
  BasisProgress* progress = nullptr;  // [count]
  double enough = 0;                  // of the squares may be left
};

/// Before step 0.
void begin_basis(const RowBasisArgs& args, cudaStream_t stream);

/// Steps 0 .. most_rank in turn: ends what is complete (the last one ends all), adds a row to what
/// is not.
void extend_basis(const RowBasisArgs& args, int step, cudaStream_t stream);

/// Gram matrices of the coefficients, whose singular values are the squares of the matrices': for
/// block b [rank, rank] at gram + most_rank^2 b, its values at most_rank b. Of 0 rows where the
/// basis is not complete.
void gram_of_coefficients(const RowBasisArgs& args, double* gram, SmallBlock* small,
                          cudaStream_t stream);

}  // namespace fovea::cuda
