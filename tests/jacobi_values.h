#pragma once

#include <functional>
#include <vector>

#include "data/matrix.h"

namespace fovea::test {

/// The singular values of a matrix, descending, by Eigen's Jacobi rotations in the arithmetic of
/// Real, double or long double: accurate to a few epsilons of the largest. entry(i, j): an entry of
/// the matrix [rows, cols].
template <class Real>
std::vector<double> jacobi_values(Index rows, Index cols,
                                  const std::function<double(Index, Index)>& entry);

/// The root of the sum of squares, also where the sum would overflow.
double root_of_squares(const std::vector<double>& values);

}  // namespace fovea::test
