#include "jacobi_values.h"

#include <Eigen/SVD>
#include <algorithm>

namespace fovea::test {

// The matrix is scaled to a largest entry of 1: rotations of very large or small entries lose
// digits.
template <class Real>
std::vector<double> jacobi_values(Index rows, Index cols,
                                  const std::function<double(Index, Index)>& entry) {
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> a(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) a(i, j) = static_cast<Real>(entry(i, j));
  const Real size = std::max(a.cwiseAbs().maxCoeff(), static_cast<Real>(1e-300));
  const auto values = Eigen::JacobiSVD<decltype(a)>(a / size).singularValues();
  std::vector<double> out;
  for (const Real value : values) out.push_back(static_cast<double>(value * size));
  return out;
}

double root_of_squares(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values)).stableNorm();
}

template std::vector<double> jacobi_values<double>(Index, Index,
                                                   const std::function<double(Index, Index)>&);
template std::vector<double> jacobi_values<long double>(Index, Index,
                                                        const std::function<double(Index, Index)>&);

}  // namespace fovea::test
