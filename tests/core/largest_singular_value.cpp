// The largest singular value against matrices of which it is known.
#include "backend/largest_singular_value.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/random.h"

namespace fovea::test {
namespace {

std::vector<double> unit_vector(Index n, std::uint64_t seed) {
  Random random(seed, 0);
  std::vector<double> x(static_cast<std::size_t>(n));
  double squares = 0;
  for (double& value : x) {
    value = random.normal();
    squares += value * value;
  }
  for (double& value : x) value /= std::sqrt(squares);
  return x;
}

/// (I - 2 u u^T) D (I - 2 w w^T), whose singular values are those of the diagonal D: 3, and between
/// 2.9 and 0.
Matrix with_largest_3(Index rows, Index cols) {
  const auto u = unit_vector(rows, 1), w = unit_vector(cols, 2);
  const Index side = std::min(rows, cols);
  const auto d = [&](Index i) {
    return i == 0 ? 3.0 : 2.9 * (1 - static_cast<double>(i) / static_cast<double>(side));
  };
  double middle = 0;  // u^T D w
  for (Index i = 0; i < side; ++i)
    middle += u[static_cast<std::size_t>(i)] * d(i) * w[static_cast<std::size_t>(i)];
  Matrix m(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double ui = u[static_cast<std::size_t>(i)], wj = w[static_cast<std::size_t>(j)];
      double value = i == j ? d(i) : 0;
      if (j < side) value -= 2 * ui * u[static_cast<std::size_t>(j)] * d(j);
      if (i < side) value -= 2 * d(i) * w[static_cast<std::size_t>(i)] * wj;
      m(i, j) = static_cast<float>(value + 4 * ui * middle * wj);
    }
  return m;
}

double value_of(const Matrix& m) {
  Profile profile;
  Run run{profile};
  return largest_singular_value(m.view(), run);
}

}  // namespace

// Entries are rounded to float, which moves a singular value by at most |M|_F 2^-24, below 1e-5.
TEST_CASE("the largest singular value, by either way") {
  for (const auto& [height, width] : {std::pair<Index, Index>{1, 1},
                                      {1, 7},
                                      {40, 12},
                                      {12, 40},
                                      {2000, 300},
                                      {300, 2000},
                                      {600, 520},
                                      {520, 600}}) {
    const Index rows = height, cols = width;
    CAPTURE(rows);
    CAPTURE(cols);
    CHECK(value_of(with_largest_3(rows, cols)) == doctest::Approx(3).epsilon(1e-5));
  }
  CHECK(value_of(Matrix(5, 3)) == 0);
}

// A square that grows slowly at first is not taken for the largest one: steps go on until one is
// known to be near. And sums beside a sink leave weights of any size.
TEST_CASE("the largest singular value by products, from a start that is nearly another's vector") {
  const Eigen::Index n = 60;
  Eigen::VectorXd squares = Eigen::VectorXd::LinSpaced(n, 0.3, 0), start(n);
  squares(0) = 1;
  squares(1) = 0.6;
  start.setConstant(1e-2);
  start(0) = 1e-6;
  start(1) = 1;
  for (const double size : {1.0, 1e-40, 1e20}) {
    CAPTURE(size);
    Profile profile;
    Run run{profile};
    const double found = largest_singular_value(
        [&](const Eigen::VectorXd& x) -> Eigen::VectorXd {
          return size * size * squares.cwiseProduct(x);
        },
        start, 2e-6, 40, run);
    CHECK(found / size == doctest::Approx(1).epsilon(1e-6));
  }
}

// As wide as the values of some heads are: what takes their width cubed would take minutes.
TEST_CASE("a wide matrix costs no more than a tall one") {
  CHECK(value_of(with_largest_3(16, 8192)) == doctest::Approx(3).epsilon(1e-5));
  CHECK(value_of(with_largest_3(8192, 16)) == doctest::Approx(3).epsilon(1e-5));
}

TEST_CASE("a matrix that is not finite has no largest singular value") {
  for (const Index side : {3, 600}) {
    Matrix m(side, side);
    m(1, 2) = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(value_of(m)));
  }
}

}  // namespace fovea::test
