// row_basis finds an orthonormal basis of the rows of matrices, one row in each step: a QR
// decomposition of the transpose with pivoting, which stops when almost nothing is left. It is done
// in double, so that the squares of the rest can be updated by subtraction. The matrices themselves
// are only read.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "spectra/jacobi.h"

namespace fovea::cuda {

/// Largest side of a matrix here.
inline constexpr int basis_side = 2048;

/// Most steps, and so the largest rank that is found: jacobi takes Gram matrices of this side.
inline constexpr int most_rank = jacobi_side;

/// A matrix and its workspace, in the arrays that all matrices of a launch share.
struct LargeBlock {
  std::int64_t entries;  // of floats, row-major
  std::int32_t rows, cols;
  std::int64_t basis;         // of doubles: [most_rank, cols]
  std::int64_t coefficients;  // [most_rank, rows]: of the rows in the basis
  std::int64_t rest;          // [rows]: squares of what the basis lacks of them
};

enum class BasisState : std::int32_t { growing, complete, rank_too_high, not_finite };

/// How far the basis of a matrix is.
struct BasisProgress {
  double total, left;  // sums of squares: of all entries, of what the basis does not span
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
  double enough = 0;                  // share of the squares that may be left
};

/// Before step 0.
void begin_basis(const RowBasisArgs& args, cudaStream_t stream);

/// To be called for steps 0 .. most_rank in turn: ends each basis that is complete (the last step
/// ends all) and adds a row to every other.
void extend_basis(const RowBasisArgs& args, int step, cudaStream_t stream);

/// Gram matrices of the coefficients, whose singular values are the squares of those of the
/// matrices: for block b [rank, rank] at gram + most_rank^2 b, its values at most_rank b. They have
/// 0 rows where the basis is not complete.
void gram_of_coefficients(const RowBasisArgs& args, double* gram, SmallBlock* small,
                          cudaStream_t stream);

}  // namespace fovea::cuda
