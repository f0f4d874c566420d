// The largest singular value of a matrix, which is its spectral norm |M|_2 and operator norm
// |M|_op.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "backend/operator.h"

namespace fovea {

/// M^T M x.
using NormalProduct = std::function<Eigen::VectorXd(const Eigen::VectorXd& x)>;

/// By Lanczos iteration on M^T M from `start`, for at most `most_steps`, until some eigenvalue is
/// known to lie within `residual` of the square that was found, relative to it. A square that still
/// grows, however slowly, counts as not found yet. A start that is orthogonal to the leading vector
/// does not find its value. The result is infinite if a product is not finite. O(n) memory times
/// the steps.
double largest_singular_value(const NormalProduct& product, Eigen::VectorXd start, double residual,
                              int most_steps, Run& run);

/// The largest singular value of a matrix in memory, to a relative error of about 1e-6: from the
/// eigenvalues of the smaller Gram matrix in double if that is small, else by Lanczos iteration.
/// NaN if an entry is not finite.
double largest_singular_value(MatrixView m, Run& run);

}  // namespace fovea
