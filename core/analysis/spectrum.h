// Largest singular values: of P, which is read by rows, and of thin matrices.
#pragma once

#include "backend/operator.h"

namespace fovea {

/// |P|_op by Lanczos iteration on P^T P; every step reads P once, in row bands. O(n) memory times
/// the steps, at most 40. Relative error about 1e-6.
double operator_norm(const Operator& op, Run& run);

/// |M|_op of an [n, few] matrix, from its Gram matrix in double.
double thin_norm(MatrixView m);

}  // namespace fovea
